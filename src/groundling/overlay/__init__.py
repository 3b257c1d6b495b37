"""The overlay: the text laid over the graph of the whole plan (the paper's Algorithm 1)."""
