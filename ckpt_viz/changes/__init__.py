"""What happened to a program since its checkpoint was written."""
