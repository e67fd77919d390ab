package a
allow if {
	t := time.parse_rfc3339_ns("2026-01-02T03:04:05Z")
	[y, m, d] := time.date([t, "UTC"])
	[y, m, d] == [2026, 1, 2]
	time.weekday(t) == "Friday"
}
