"""What tests share: programs, tables of cases, oracles, laws, and makers of files."""
