"""What tells a demonstrated plan from another one: labels, values of slots, numbers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property

from groundling.diagnosis.known import Known, TextWords, advise, graphs, quoted
from groundling.models.base import Request
from groundling.world.graph import Label
from groundling.world.trajectory import Trajectory

__all__ = ["Between"]

_NAMED = 3  # words that a sentence names
_GOES_WITH = 0.7  # share of texts with a word that are about a value


class Between:
    """The labels that a demonstrated plan has and another has not, and how words can mean them."""

    def __init__(
        self, known: Known, request: Request, text: TextWords, gold: Trajectory, best: Trajectory
    ) -> None:
        self.known, self.world, self.text = known, request.world, text
        self.gold, self.best = gold, best

    @cached_property
    def labels(self) -> list[Label]:
        """Labels that the demonstrated actions have, and those of the other plan have not."""
        gold, best = (
            [
                label
                for graph in graphs(self.world, plan)
                for labels in graph.node_labels
                for label in labels
            ]
            for plan in (self.gold, self.best)
        )
        return [label for label in dict.fromkeys(gold) if label not in best]

    @cached_property
    def joined(self) -> dict[str, tuple[str, ...]]:
        """The same as features name them, each with what names in features words join."""
        theirs = self._named(self.best)
        return {
            name: (name, f"{label}~")
            for name, (label, _, _) in self._named(self.gold).items()
            if name not in theirs
        }

    @cached_property
    def slots(self) -> dict[str, tuple[str, str]]:
        """Those that are values of slots, each with its kind and value."""
        kinds = self.known.encoder.nodes.slots
        return {
            name: (kind, value)
            for name, (_, kind, value) in self._named(self.gold).items()
            if kind in kinds and isinstance(value, str)
        }

    def _named(self, plan: Trajectory) -> dict[str, tuple[str, str, str | float | None]]:
        """Return the labels of the actions of a plan by their names: label, kind, value."""
        found: dict[str, tuple[str, str, str | float | None]] = {}
        for state, action in plan.decisions():
            for node in self.known.encoder.ground(self.world, state, action).nodes:
                for label, _ in node:
                    name = label.name if label.value is None else f"{label.name}={label.value}"
                    found[name] = (label.name, label.kind, label.value)
        return found

    # ---- values of slots ----------------------------------------------------------------

    def slot_cure(self, names: Sequence[str]) -> str:
        """Say how words of the text can mean a value of a slot that none of them spells.

        Of several values it is the one that a word of the text goes with most.
        """
        words = [word for word in self.text.plain if not self.known.is_common(word)]
        pairs = [(self.known.speaks_of(word, *self.slots[name]), word, name)
                 for name in names for word in words]  # fmt: skip
        share, word, name = max(pairs, key=lambda pair: pair[0], default=(0.0, "", names[0]))
        if share < _GOES_WITH:
            word, name = next(iter(self.text.unknown), "WORD"), names[0]
        kind, value = self.slots[name]
        missing = (
            f"No word of the text spells {value!r}, the value of {kind!r} that only the "
            "demonstrated actions have"
        )
        line = f"a line in a lexicon, such as “{word} = {kind}:{value}”"
        if "value" in self.known.learnt.settings.features.joins:
            return (
                f"{missing}, and too few texts were shown from which to learn which does. "
                f"Demonstrate more that say it in these words; or give the word {line}."
            )
        return (
            f"{missing}: {kind!r} is in Features.slots, so that words mean its values by their "
            f"spelling or by a lexicon. Give the word that means it {line}; or give the node a "
            "label that words can learn beside the value, "
            f"{{{kind!r}: {value!r}, {value!r}: True}}."
        )

    # ---- numbers ------------------------------------------------------------------------

    def rank_cures(self) -> Iterator[str]:
        """Name ranks where a number tells the plans apart and the text may speak of its rank."""
        numbers = [label.name for label in self.labels if isinstance(label.value, float)]
        if not numbers or any(".rank" in name for name in numbers):
            return
        language = self.text.reader.language
        said = [word for word in self.text.words if language.ordinal(word) is not None]
        if len(numbers) == len(self.labels):  # else an unknown word may speak of the others
            said += [word for word in self.text.unknown if word not in said]
        if said:
            yield (
                f"The number {numbers[0]!r} tells the actions apart: if {quoted(said[:_NAMED])} "
                "speaks of its rank (first, largest, leftmost), put the environment in "
                "RankedEnvironment(…)."
            )

    @cached_property
    def only_numbers(self) -> bool:
        """Whether numbers alone tell the plans apart, and no word of the text can mean them.

        Where numbers are only compared with numerals, another word learns nothing of them.
        """
        numbers = [each.value for each in self.labels if isinstance(each.value, float)]
        if not numbers or len(numbers) < len(self.labels) or not self.text.words:
            return False
        language = self.text.reader.language
        said = {read(word) for word in self.text.words for read in
                (language.numeral, language.ordinal)}  # fmt: skip
        return self.known.encoder.nodes.numbers == ("equal",) and not said & set(numbers)

    def number_cures(self) -> Iterator[str]:
        """Name the number that intervals would tell apart, and other labels if none would."""
        if not self.only_numbers:
            return
        sizes: dict[str, float] = {}  # bins are finest where numbers are small
        for each in self.labels:
            if isinstance(each.value, float):
                sizes[each.name] = min(abs(each.value), sizes.get(each.name, abs(each.value)))
        parted = [name for name in sizes if self._is_parted(name)]
        name = min(parted or sizes, key=lambda name: sizes[name])
        edges = ", ".join(f"{edge:g}" for edge in self.known.encoder.nodes.bins)
        label = (
            f"a string label beside the number, such as {name + ' said'!r}, with a value "
            "for each range that people speak of"
        )
        if parted:
            use = advise(self.known.learnt, "Features", numbers=("equal", "bins"))
            cure = (
                f"Use {use}, where a number falls between two of the edges {edges}; or give it "
                f"{label}."
            )
        else:
            cure = f"Give it {label}: the edges of 'bins', {edges}, do not part these."
        yield (
            f"The number {name!r} tells the actions apart, and with Features.numbers=('equal',) "
            f"only a numeral means it: other words learn nothing of a number. {cure}"
        )

    def _is_parted(self, name: str) -> bool:
        """Tell whether intervals of a number tell the plans apart."""
        gold, best = ({self.known.encoder.nodes.interval(label.value)
                       for graph in graphs(self.world, plan)
                       for labels in graph.node_labels for label in labels
                       if label.name == name and isinstance(label.value, float)}
                      for plan in (self.gold, self.best))  # fmt: skip
        return bool(gold - best)
