"""The graph as people think of it: layers by name, their calls and their parameters.

`calls` orders layers, `layer_config` tells what their configuration says, and `training` what a
training does to each variable.
"""
