package a
allow := {"allowed": true, "body": "a"} if input.x == 1
else := {"allowed": true, "body": "b"} if input.x == 2
else := {"allowed": false}
