package shop.authz

default allow = {"allowed": false, "http_status": 403}

allow = {"allowed": true} if {
	input.attributes.request.http.method in data.shop.roles[role]
}

role := input.attributes.request.http.headers["x-role"]
