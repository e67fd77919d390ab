package a
allow if net.cidr_contains("10.0.0.0/8", input.ip)
