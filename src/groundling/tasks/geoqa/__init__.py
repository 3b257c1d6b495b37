"""GeoQA: questions about maps, answered by sets of places.

The questions and maps are those of Krishnamurthy and Kollar (2013).
"""
