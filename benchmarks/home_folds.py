"""Errors in cross-validation on training sentences of homes: `python -m benchmarks.home_folds`.

The held-out fifth is not used. Words, templates and settings were chosen on these folds.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Iterator, Sequence
from pathlib import Path

from groundling.home.agent import HomeAgent
from groundling.home.corpus import HomeExample, read_corpus, split
from groundling.home.home_trainer import SEED, fit, training_examples
from groundling.home.model import HomeModel
from groundling.home.task import is_exact, misspell


def folds(
    examples: Sequence[HomeExample], count: int
) -> Iterator[tuple[list[HomeExample], list[HomeExample]]]:
    """Yield the (training, test) examples of each fold; groups of paraphrases stay together."""
    groups = sorted({each.group for each in examples})
    random.Random(SEED).shuffle(groups)
    for number in range(count):
        chosen = set(groups[number::count])
        yield (
            [each for each in examples if each.group not in chosen],
            [each for each in examples if each.group in chosen],
        )


def main() -> None:
    """Print the errors of each fold and the shares of exact replies."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--language", default="en")
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--only", type=int, nargs="*", help="numbers of the folds to run")
    parser.add_argument("--save", type=Path, help="folder for the models of the folds")
    parser.add_argument("--load", type=Path, help="folder with the models of the folds")
    given = parser.parse_args()
    inside, _ = split(read_corpus(None, given.language).examples, seed=SEED)
    right = {"exact": [0, 0], "one typo": [0, 0]}
    for number, (training, test) in enumerate(folds(inside, given.folds)):
        if given.only and number not in given.only:
            continue
        said = {each.text.lower() for each in test}
        if given.load:
            model = HomeModel.load(given.load / str(number), given.language)
        else:
            made = training_examples(None, given.language, training)
            model = fit([e for e in made if e.text.lower() not in said], given.language)
        if given.save:
            model.save(given.save / str(number))
        agent = HomeAgent(test[0].world.home, model)
        for name, count in right.items():
            for n, plain in enumerate(test):
                each = plain if name == "exact" else misspell(plain, n)
                agent.forget()
                agent.before = each.situation.before
                reply = agent.reply(each.text, area=each.situation.here)
                is_right = is_exact(reply, each.command)
                count[0] += is_right
                count[1] += 1
                if not is_right and name == "exact":
                    understood = "; ".join(map(str, reply.commands))
                    print(f"{number} {each.text!r}: {each.command}, not {reply.kind} "
                          f"{reply.confidence:.2f} {understood}", flush=True)  # fmt: skip
        print({name: f"{a}/{b} = {a / b:.3f}" for name, (a, b) in right.items()}, flush=True)


if __name__ == "__main__":
    main()
