"""What names tell: which ones a person chose, and which mean the same on both sides.

`full_names` tells names that Keras gives from chosen ones, and `migrations` has names of one thing
in several versions. `names` compares local names and layer names. `scope_tree` makes graphs trees
of the scopes in full names, for files without objects.
"""
