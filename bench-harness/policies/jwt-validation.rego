package envoy.authz

default allow = false

# The certificate of test-key.pem beside this file: made for these measurements, of no use elsewhere.
certificate := `-----BEGIN CERTIFICATE-----
MIIDNTCCAh2gAwIBAgIULTAIZmalRRYsPoviQfQ4k5sQZKMwDQYJKoZIhvcNAQEL
BQAwKTEnMCUGA1UEAwweYmVuY2gtaGFybmVzcyB0ZXN0IGNlcnRpZmljYXRlMCAX
DTI2MTEzMDExNTU0N1oYDzIxMjYxMTA2MTE1NTQ3WjApMScwJQYDVQQDDB5iZW5j
aC1oYXJuZXNzIHRlc3QgY2VydGlmaWNhdGUwggEiMA0GCSqGSIb3DQEBAQUAA4IB
DwAwggEKAoIBAQCkq2mbN42tqkrx6FDsizzk763us/HNtVybwrftuKbgXYgvyaku
haxd2zEvrvRvYC9K2iF82wQSYDPAhtdlwtqEP0MplS+CfcsX1UCKj5MveHG/wumO
RzMIa3SIaUUedgRtIG62jiVG0RPta2CbwOWZsR+FeHLXZS1ryeLJC8xNiG7XCuY2
mIBuUAOZ6H/djNujhg8zqw3oVD7JmKIFUJ8DBWMwT1+EIjvA9XA1nQwYjlvawFGY
aBxdJJc/spWrRReytY7mG8XO5FMYONW/mMysy1CZMQvcX1agA+UAGXk8kEfLD07s
wDr0ejrgPr4GJJer8GC3dklsyJYc2w+zUEZdAgMBAAGjUzBRMB0GA1UdDgQWBBSD
jK7K+p/j/AqTShV/bLT4CNmNxTAfBgNVHSMEGDAWgBSDjK7K+p/j/AqTShV/bLT4
CNmNxTAPBgNVHRMBAf8EBTADAQH/MA0GCSqGSIb3DQEBCwUAA4IBAQB/ginCMC3t
ysOvubw9vhL7RHH6/zznnyGeg6MzVhFgtfxTNVKFsMmQzeQhSh2NVtAoCcf+NXPd
ndDDilVAURJgwix5dsawmT6gj7jQLc2V1TQ8gl1IpLjo5SG/6oLG0QM+kx16tgR+
lIWef2QCpW4XuYez7TvfVDVcNDFnk5AxbEQg85W7PUV4FvK8ULO8rjYWit26mq7w
SGEHUWucDtP+bzHpo97mPiXmlutm/tuhjXvjLEeEnBra/PuYqbUl4WucqfXPgwN4
nK335gB9ZjlBlvqJhRvunqTbCTmCjanhp2eUufxSpjErcgJ5Cnop1w4zEIZpnM7A
/4eVdjjwqVmW
-----END CERTIFICATE-----`

allow if {
	[scheme, token] := split(input.attributes.request.http.headers.authorization, " ")
	scheme == "Bearer"
	[valid, _, claims] := io.jwt.decode_verify(token, {
		"cert": certificate,
		"aud": "bench-harness",
	})
	valid
	startswith(claims.sub, "user-")
}
