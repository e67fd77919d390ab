package system.log

# Tokens and mail addresses have no place in a log.
mask contains "/input/attributes/request/http/headers/authorization"

mask contains {"op": "upsert", "path": "/input/parsed_body/email", "value": "**REDACTED**"} if {
	input.input.parsed_body.email
}

mask contains "/input/attributes/request/http/rawBody"
