package a
default allow := false
allow if {
	every c in input.containers { startswith(c.image, "registry.example/") }
	not denied
}
denied if {
	some c in input.containers
	c.privileged
}
