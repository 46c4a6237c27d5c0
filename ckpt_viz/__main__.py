"""The command line as `python -m ckpt_viz`, where the folder of `ckpt-viz` is on no path."""

from ckpt_viz.cli import main

if __name__ == "__main__":
    main(prog_name="ckpt-viz")
