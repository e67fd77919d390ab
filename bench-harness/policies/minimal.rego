package envoy.authz

default allow = false

allow if input.parsed_path == ["allow"]
