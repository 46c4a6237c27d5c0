"""The rules that turn a dry run into findings, one module per sort of trouble.

`findings` runs all rules and puts their findings in order.


`findings` runs all rules and puts their findings in order.


`findings` runs all rules and puts their findings in order.
"""
