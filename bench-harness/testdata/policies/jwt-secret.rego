package a
allow if {
	[valid, _, claims] := io.jwt.decode_verify(input.token, {"secret": "secret", "aud": "x"})
	valid
	claims.sub == "alice"
	io.jwt.verify_hs256(input.token, "secret")
	not io.jwt.verify_hs256(input.token, "other")
}
