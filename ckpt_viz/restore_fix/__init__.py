"""From a verdict to a restore that works: its code and its proof."""
