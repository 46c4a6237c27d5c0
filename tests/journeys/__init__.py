"""Everyday journeys: a model is trained and saved, edited, checked, fixed, trained on and saved.

A journey is a kind of model, a kind of file and an edit of the program. The laws of a restore must
hold for each.

| module | what is in it |
| --- | --- |
| `journeys` | the journeys as data: kinds of models, kinds of files, edits |
| `files` | how each kind of file is written, loaded, checked and read |
| `truth` | where each saved value belongs after the edit, and what must be certain |
| `walk` | walks a journey, and keeps what happened on the way as plain data |
| `laws` | the seven laws |

`python -m tests.journeys` prints the table of kinds and laws, and each break.
"""
