"""The `groundling` command-line program."""
