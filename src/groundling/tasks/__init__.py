"""Benchmark tasks: plug-ins that bundle a corpus, presets and an evaluation protocol."""
