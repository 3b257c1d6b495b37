"""Tools that build and check the package; not part of the package."""
