"""The explorer in Jupyter: the widget, what it shows and answers, what is left in a notebook."""
