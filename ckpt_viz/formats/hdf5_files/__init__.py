"""HDF5 files as Keras writes them: groups, attributes and data sets.

`hdf5_objects` walks the file, `hdf5_types` reads types and shapes, `hdf5_values` the values.
"""
