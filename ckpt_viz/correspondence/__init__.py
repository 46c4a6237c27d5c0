"""One correspondence of a saved graph and a live one: which value belongs to which variable."""
