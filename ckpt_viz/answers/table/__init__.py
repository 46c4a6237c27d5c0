"""The table of a check: its lines, its sentence, and its marks on the graph."""
