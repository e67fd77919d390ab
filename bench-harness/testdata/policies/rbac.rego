package a
default allow := false
roles := {"alice": ["admin"], "bob": ["reader"]}
grants := {"admin": [{"GET", "/x"}], "reader": [{"GET", "/y"}]}
allow if {
	some role in roles[input.user]
	some grant in grants[role]
	grant == {input.method, input.path}
}
