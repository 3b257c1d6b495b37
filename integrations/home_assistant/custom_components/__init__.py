"""Custom components: Groundling."""
