"""The command-line program `groundling`."""
