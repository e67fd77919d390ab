package a
default allow := false
