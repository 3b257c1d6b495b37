"""The planner of puzzles compared with plain searches, with and without hints."""
