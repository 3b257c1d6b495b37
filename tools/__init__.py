"""What makes the things that ship with the package; not part of it."""
