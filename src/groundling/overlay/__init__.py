"""The overlay: aligns a text with a whole plan (the paper's Algorithm 1)."""
