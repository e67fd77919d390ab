package a
allow := true if input.x
allow := false if input.y
