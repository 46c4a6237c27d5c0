"""Random programs of tests, and the laws that must hold for each of them.

| module | what is in it |
| --- | --- |
| `law` | how an example of a law is drawn, tried, shrunk and printed |
| `recipes`, `plain_recipes`, `keras_recipes` | programs as lists of instructions |
| `pairs` | the law of them: the check predicts what TensorFlow does |
| `keras_programs` | models of Keras and what people edit in them, as data |
| `keras_making` | makes these models, of Keras 3 or tf_keras |
| `wrong_values` | a law of them: a finding names each wrong value after a restore, and no other |
| `weights_loading` | a law of them: the check of `load_weights` does as Keras |
| `twins` | laws of programs with equal parts: no remedy and no fix mixes them up |
| `trees` | programs as trees of parts, and their refactorings |
| `tagged` | programs and what became of them, with tags that tell where each value belongs |

`python -m tests.programs LAW --programs N --seed S` tries as many programs of a law as you like. A
failure is code. To try it again, pass what that code makes to `hold_for` of the law.
"""
