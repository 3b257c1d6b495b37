"""Speed of the model against PyTorch, plain loops, and its own limit."""
