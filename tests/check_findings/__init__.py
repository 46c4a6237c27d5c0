"""The pairs that tests/test_check_findings.py restores, one module per family of findings."""
