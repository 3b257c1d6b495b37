"""GeoQA: questions about maps, answered by sets of places.

The task of Krishnamurthy and Kollar (2013).
"""
