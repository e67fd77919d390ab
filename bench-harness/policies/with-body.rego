package envoy.authz

default allow = false

allow if endswith(input.parsed_body.email, "@example.org")
