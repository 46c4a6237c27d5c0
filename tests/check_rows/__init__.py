"""The rows of the table that tests/test_check_table.py checks, by subject."""
