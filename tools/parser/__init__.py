"""Training and evaluation of the parser that is shipped with the package."""
