package a
allow if is_admin(input.user)
is_admin(u) if endswith(u.email, "@example.org")
is_admin(u) if u.root
