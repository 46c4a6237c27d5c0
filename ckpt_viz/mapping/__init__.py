"""Which saved value belongs to which variable of a program, wherever a restore puts it."""
