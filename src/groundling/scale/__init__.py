"""More demonstrations than memory or one machine holds: training in shards."""
