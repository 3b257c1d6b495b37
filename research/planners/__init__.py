"""The planner of the puzzles against plain searches, with and without hints."""
