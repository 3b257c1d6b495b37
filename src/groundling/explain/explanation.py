"""Why a plan: which words caused which action, through which weights."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

__all__ = ["Explanation", "Source"]


@dataclass
class Explanation:
    """To be written."""


class Source:
    """To be written."""

    def __init__(self, *args: Any) -> None:
        self.args = args

    def explain(self, plan: Any) -> Explanation:
        """To be written."""
        return Explanation()
