"""Speaking and asking: what a plan is called, which outcomes to ask about, what was meant."""
