package a
allow if {
	base64.decode(base64.encode("x")) == "x"
	units.parse_bytes("1Ki") == 1024
	semver.compare("1.2.3", "1.10.0") == -1
	hex.encode("a") == "61"
	urlquery.encode("a b") == "a+b"
}
