"""Ground: what every other wing uses; it knows nothing of checkpoints.

The modules:

- `text` makes words of numbers, shapes and untrusted names.
- `wording` has the words for a next step that differ by place: Python, terminal, explorer.
- `expressions` alone decides how a name becomes code.
- `gc_pause` builds large graphs without repeated garbage collection.
- `interrupts` lets signals wait while objects are half changed.

`ckpt_viz/errors.py` belongs here, too: people import it, so it stays at the top.

The words: *printable* (a text without control characters), *expression* (code for one object).
"""
