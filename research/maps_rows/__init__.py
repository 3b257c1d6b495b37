"""Two rows of the maps that the library carries no settings for."""
