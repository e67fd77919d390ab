package system.log

# Every allowed GET of an odd item: about half of the minimal scenario's events.
drop if {
	input.result == true
	some item in input.input.parsed_query.item
	to_number(item) % 2 == 1
}
