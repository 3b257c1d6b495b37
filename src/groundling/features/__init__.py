"""Features: labels of words and nodes, the lexicon, and joined features φ."""
