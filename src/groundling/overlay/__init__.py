"""The overlay: aligns a text with a whole plan (Algorithm 1 of the paper)."""
