"""Evaluation: rows, intervals and tables that every task shares."""

from groundling.evaluation.report import Report, Row, bootstrap

__all__ = ["Report", "Row", "bootstrap"]
