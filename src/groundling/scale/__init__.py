"""Training in shards, for data that exceed the memory of one machine."""
