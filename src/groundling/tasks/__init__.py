"""Benchmark tasks: plug-ins with a corpus, presets and an evaluation protocol."""
