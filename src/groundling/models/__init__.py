"""Models: training objectives, plan search and interpretation of plans."""
