"""Models: what turns demonstrations into an objective, a text into plans, a plan into reasons."""
