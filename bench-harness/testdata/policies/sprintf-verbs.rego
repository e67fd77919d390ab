package a
allow := {"allowed": true, "body": sprintf("%05.1f %q %x %5d|%-5s|%t %v", [3.14159, "a\"b", 255, 42, "ab", true, {"k": 1}])}
