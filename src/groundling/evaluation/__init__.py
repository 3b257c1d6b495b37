"""Evaluation: rows, intervals and tables shared by all tasks."""

from groundling.evaluation.report import Report, Row, bootstrap

__all__ = ["Report", "Row", "bootstrap"]
