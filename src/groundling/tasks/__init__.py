"""Tasks: plug-ins with a corpus, presets and a protocol."""
