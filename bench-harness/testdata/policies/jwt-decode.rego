package a
allow if {
	[header, claims, _] := io.jwt.decode(input.token)
	header.alg == "HS256"
	"reader" in claims.roles
}
