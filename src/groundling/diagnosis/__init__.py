"""What goes wrong with what was learnt, and why: findings, mistakes, and their cures."""
