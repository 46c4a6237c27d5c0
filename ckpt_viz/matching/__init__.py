"""What a restore does to two graphs, and which value belongs where; no TensorFlow.

The rooms, from the ground up:

- `engines`: a restore without a change: TensorFlow's by objects and names, Keras' by paths.
- `name_rules`: what names of two programs prove.
- `story`: the steps of a save, a restore and its asserts, in TensorFlow's order.
- `correspondence`: which saved value belongs to which variable of the program.
- `changes`: what people did to the program since it was saved.
- `restore_table`: a row for each value: where the checked call and the fix put it.

How a restore flows through: an engine walks the saved graph against a live side, and records a
*trace*. `correspondence` pairs the same graphs by evidence. `changes` reads deeds from both.
`restore_table` joins the two answers in one table.

The words: *trace* (the recorded steps of a restore), *side* (the saved or the live half),
*correspondence* and its *pairs*, *evidence* (why two nodes are a pair), *change* and *deed*,
*row* and *cell* of the table, *reason* (why a value is not restored).
"""
