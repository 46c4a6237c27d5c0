"""One correspondence of a saved graph and a live one: which value belongs to which variable.

`correspond` pairs the nodes of a saved and a live graph; `unchanged` knows the program for which
no search is needed. `items` makes both graphs trees of what has values, and `descriptions` gives
each item its names and its content. `siblings` matches the children of a pair: anchors by name,
then content, then order in the gaps. `whole_tree` searches what stays free, `nearest` decides
between equal parts, `rivals` makes a guess of what neither a name nor a place tells, and
`optimizers` and `states` follow the variables. `value_mapping` has the values of all pairs,
`by_names` is for files without objects, `of_savers` for names on both sides, and `of_exports` for
files of Keras' `export()`.
"""
