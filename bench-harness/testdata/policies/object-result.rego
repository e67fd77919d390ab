package a
default allow := {"allowed": false, "http_status": 403}
allow := {"allowed": true, "headers": {"x-user": input.user}} if input.user != ""
