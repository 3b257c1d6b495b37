"""Inference: plan search, alignment and decoding."""
