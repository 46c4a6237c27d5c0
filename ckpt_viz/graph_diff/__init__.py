"""What differs between two object graphs."""
