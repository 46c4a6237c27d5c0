"""The table of a restore: where each value goes, by the checked call and by the fix."""
