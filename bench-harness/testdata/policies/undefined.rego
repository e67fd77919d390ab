package a
allow if input.nothing.here
