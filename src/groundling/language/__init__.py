"""Linguistic structure: instructions as dependency trees, and the parsers that make them."""

from groundling.language.instruction import Instruction, promote_function_words

__all__ = ["Instruction", "promote_function_words"]
