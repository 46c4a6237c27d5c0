"""The numbers in tensors: statistics, what changed, and what a training did to them."""
