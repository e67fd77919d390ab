package a
allow if {
	graph.reachable({"a": ["b"], "b": ["c"], "c": []}, {"a"}) == {"a", "b", "c"}
	{1, 2} & {2, 3} == {2}
	{1, 2} - {2} == {1}
}
