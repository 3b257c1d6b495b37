"""Training: objectives over θ, lexicon induction, checkpoints and incremental learning."""
