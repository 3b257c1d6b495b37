"""Tasks: plug-ins with a corpus, presets and a protocol, found by name in `task_registry`."""
