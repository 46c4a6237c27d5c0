"""The rules that make findings of a dry run, one module per sort of trouble."""
