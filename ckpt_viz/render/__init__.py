"""Object graphs as text, as DOT and as the payload of the explorer."""
