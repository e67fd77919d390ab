package a
allow if {
	regex.match(`^/v[0-9]+/items/[a-z]+$`, input.path)
	glob.match("/v1/*/*", ["/"], input.path)
}
