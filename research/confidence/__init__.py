"""How far confidence can be trusted on the tasks."""
