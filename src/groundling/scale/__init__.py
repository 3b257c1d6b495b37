"""Training in shards, for data that do not fit into the memory of one machine."""
