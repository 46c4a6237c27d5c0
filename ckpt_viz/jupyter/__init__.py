"""The explorer in Jupyter: the widget, its contents and answers, and what a notebook saves."""
