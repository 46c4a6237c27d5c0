"""Names that versions of Keras and TensorFlow give to the same thing.

Sources: keras/src/optimizers (Keras 3), tf_keras/src/optimizers and its `legacy` (Keras 2), and
tensorflow/python/training (TensorFlow 1).
"""

from __future__ import annotations

# Slot variables, by the name that Keras 3 gives to them.
_SLOTS = {
    "momentum": ("m", "Momentum", "Adam"),
    "velocity": ("v", "rms", "RMSProp", "Adam_1"),
    "velocity_hat": ("vhat",),
    "average_gradient": ("mg",),
    "accumulator": ("Adagrad",),
    "accumulated_grad": ("accum_grad",),
    "accumulated_delta_var": ("accum_var",),
}
_LOCAL_NAMES = {
    "iterations": ("iter",),
}
_SLOT_OF = {old: new for new, names in _SLOTS.items() for old in names}
_LOCAL_NAME_OF = {old: new for new, names in _LOCAL_NAMES.items() for old in names}


def slot_name(name: str) -> str:
    """Return the name that Keras 3 has for a slot variable, or the name itself.

    >>> slot_name("m"), slot_name("rms"), slot_name("velocity"), slot_name("mine")
    ('momentum', 'velocity', 'velocity', 'mine')
    """
    return _SLOT_OF.get(name, name)


def local_name(name: str) -> str:
    """Return a local name as all versions spell it: Keras 3 makes many of them private.

    >>> local_name("_kernel"), local_name("iter"), local_name("_iterations")
    ('kernel', 'iterations', 'iterations')
    """
    public = name.lstrip("_")
    return _LOCAL_NAME_OF.get(public, public)
