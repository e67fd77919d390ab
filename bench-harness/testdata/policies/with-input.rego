package a
allow if inner with input.user as "root"
inner if input.user == "root"
