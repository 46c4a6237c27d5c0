"""Slots and roles: which variable of an optimizer belongs to which variable of the model.

`optimizer_table` lists the slots of each class. Files of Keras 3, Keras 2 and TensorFlow 1 have
a module each. `hanging` finds what an optimizer alone holds, and `roles` the kind of each node.
"""
