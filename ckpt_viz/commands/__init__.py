"""The commands of `ckpt-viz`."""
