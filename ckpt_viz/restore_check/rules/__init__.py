"""The rules that turn a dry run into findings, one module per sort of trouble."""
