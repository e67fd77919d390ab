package a
allow if {
	some path, value
	walk(input, [path, value])
	value == "secret"
}
