"""GeoQA: questions about maps, answered by sets of places (Krishnamurthy & Kollar 2013)."""
