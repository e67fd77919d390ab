package a
allow := {"allowed": true, "body": json.marshal(object.union(object.remove(input.o, ["x"]), {"z": object.get(input.o, "y", 0)}))}
