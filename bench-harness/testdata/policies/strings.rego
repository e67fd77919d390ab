package a
allow := {"allowed": true, "body": concat("|", [lower("ÄB"), upper("ä"), trim(" x ", " "), replace("aXa", "X", "-"), substring("hello", 1, 3), sprintf("%d %s %v %.2f", [3, "a", [1, "b"], 2.5]), format_int(255, 16)])}
