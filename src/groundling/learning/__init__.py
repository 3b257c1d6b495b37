"""Training: optimiser, lexicon induction, checkpoints and incremental learning."""
