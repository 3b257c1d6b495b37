"""Two rows of the maps table whose settings are not part of the library."""
