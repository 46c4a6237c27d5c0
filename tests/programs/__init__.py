"""Random programs of tests, and the laws that must hold for each of them.

| module | what is in it |
| --- | --- |
| `law` | how an example of a law is drawn, tried, shrunk and printed |
| `recipes`, `plain_recipes`, `keras_recipes` | programs as lists of instructions |
| `pairs` | the law of them: the check predicts what TensorFlow does |

`python -m tests.programs LAW --programs N --seed S` tries as many programs of a law as you like. A
failure is code. To try it again, pass what that code makes to `hold_for` of the law.
"""
