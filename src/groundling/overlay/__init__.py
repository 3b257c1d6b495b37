"""The overlay: aligns a text with the graph of a whole plan (the paper's Algorithm 1)."""
