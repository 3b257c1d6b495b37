"""Map reading: follow a speaker across a landscape of named landmarks (HCRC map task)."""
