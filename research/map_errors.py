"""Errors on maps: which predicted moves are wrong, and which moves are missing.

`python -m research.map_errors CORPORA/hcrc` trains a preset, follows the test dialogues, and
prints the counts of docs/maps.md; `--dialogues` adds a line for each dialogue.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise

from groundling.tasks.benchmark import Fold, follow_cases
from groundling.tasks.maps import Go, MapCorpus, load_corpus
from groundling.tasks.maps.path_score import transitions
from groundling.tasks.maps.task import MapTask

__all__ = ["Routes", "count_errors", "follow_test", "main", "missing_moves", "wrong_moves"]

Routes = tuple[str, Sequence[str], Sequence[str]]
"""Names of dialogues, each with the predicted landmarks and those of the drawn route."""


def wrong_moves(predicted: Sequence[str], gold: Sequence[str]) -> Counter[str]:
    """Return counts of predicted moves that the drawn route does not have, by kind.

    >>> wrong_moves(["start", "mill", "inn", "cave"], ["start", "barn", "mill", "cave"])
    Counter({'passes over landmarks': 1, 'off the route': 1, 'back to the route': 1})
    """
    left = transitions(gold)
    found: Counter[str] = Counter()
    for here, there in pairwise(predicted):
        if here == there:
            continue
        if left[here, there]:
            left[here, there] -= 1
        elif there not in gold:
            found["off the route"] += 1
        elif here not in gold:
            found["back to the route"] += 1
        elif gold.index(there) > gold.index(here):
            found["passes over landmarks"] += 1
        else:
            found["against the direction"] += 1
    return found


def missing_moves(predicted: Sequence[str], gold: Sequence[str]) -> Counter[str]:
    """Return counts of moves of the drawn route that were not predicted, by kind.

    >>> missing_moves(["start", "mill"], ["start", "barn", "mill"])
    Counter({'landmark never reached': 1, 'reached from elsewhere': 1})
    """
    left = transitions(predicted)
    found: Counter[str] = Counter()
    for here, there in pairwise(gold):
        if here == there:
            continue
        if left[here, there]:
            left[here, there] -= 1
        elif there not in predicted:
            found["landmark never reached"] += 1
        else:
            found["reached from elsewhere"] += 1
    return found


def count_errors(answers: Sequence[Routes]) -> tuple[Counter[str], Counter[str]]:
    """Return counts of wrong and of missing moves over all dialogues, by kind."""
    wrong, missing = Counter[str](), Counter[str]()
    for _, predicted, gold in answers:
        wrong += wrong_moves(predicted, gold)
        missing += missing_moves(predicted, gold)
    return wrong, missing


def follow_test(corpus: MapCorpus, name: str = "best") -> Iterator[Routes]:
    """Train a preset on the training maps; yield its routes on the test maps."""
    task = MapTask()
    chosen = task.presets.select(name)
    cases, apart = task.prepare(corpus, chosen), task.held_out(corpus)
    follower, _ = task.fit(chosen, cases, Fold("test", apart))
    test = [each for each in cases if each.part in apart]
    for case, plan in zip(test, follow_cases(follower, test), strict=True):
        assert plan is not None
        start = corpus.maps[int(case.part)].landscape.start
        done = [action.landmark for action in plan.actions if isinstance(action, Go)]
        yield case.demonstration.name, [start, *done], [start, *case.reference]


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("corpus", help="folder of the corpus")
    parser.add_argument("--preset", default="best")
    parser.add_argument("--dialogues", action="store_true", help="also print every route")
    settings = parser.parse_args(arguments)
    answers = list(follow_test(load_corpus(settings.corpus), settings.preset))
    if settings.dialogues:
        for name, predicted, gold in answers:
            print(f"{name}\n  gold  {' → '.join(gold)}\n  found {' → '.join(predicted)}")
    moves = [sum(transitions(routes).values()) for _, *both in answers for routes in both]
    wrong, missing = count_errors(answers)
    print(f"| {sum(moves[::2])} predicted moves | |\n|---|---|")
    for kind, count in wrong.most_common():
        print(f"| wrong: {kind} | {count} |")
    print(f"\n| {sum(moves[1::2])} moves of the drawn routes | |\n|---|---|")
    for kind, count in missing.most_common():
        print(f"| missing: {kind} | {count} |")


if __name__ == "__main__":
    main()
