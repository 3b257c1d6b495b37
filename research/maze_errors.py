"""Errors on mazes: accuracy by kind of sentence, and the most confident errors.

`python -m research.maze_errors CORPUS OUT` writes `OUT/errors.html` and
`OUT/errors.md` for a preset and row.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any, NamedTuple, cast

from groundling.explain.explanation import Explanation
from groundling.files import write_atomically
from groundling.language.instruction import Instruction
from groundling.plan import Plan
from groundling.svg import STYLE
from groundling.tasks.benchmark import Fold, follow_cases
from groundling.tasks.mazes.actions import MazeState
from groundling.tasks.mazes.corpus import load_sail
from groundling.tasks.mazes.environment import MazeEnvironment
from groundling.tasks.mazes.task import MazeTask
from groundling.world.environment import Demonstration

__all__ = ["Answer", "ErrorReport", "breakdown", "follow_all", "sentence_type"]

_SUBJECTS = {"nsubj", "csubj", "expl"}
_VERBS = {"VERB", "AUX"}
_HUES = (210, 28, 130, 290, 350, 60)


class Answer(NamedTuple):
    """The follower's answer to one sentence, and whether it is right."""

    demonstration: Demonstration
    plan: Plan
    right: bool


def sentence_type(text: Sequence[Instruction]) -> str:
    """Return whether a text is imperative, declarative or a fragment, by its parse.

    >>> go = Instruction(("go", "on"), (-1, 0), ("root", "advmod"), ("VERB", "ADV"))
    >>> sentence_type([go])
    'imperative'
    >>> see = Instruction(("I", "see"), (1, -1), ("nsubj", "root"), ("PRON", "VERB"))
    >>> sentence_type([see])
    'declarative'
    >>> sentence_type([Instruction(("left",), (-1,), ("root",), ("ADV",))])
    'fragment'
    """
    kinds = {_type(each) for each in text}
    return next(kind for kind in ("imperative", "declarative", "fragment") if kind in kinds)


def _type(instruction: Instruction) -> str:
    root = instruction.root
    below = {instruction.relations[child].split(":")[0] for child in instruction.children(root)}
    if below & _SUBJECTS:
        return "declarative"
    if instruction.tags[root] in _VERBS:
        return "imperative"
    return "declarative" if "cop" in below else "fragment"


def _instructions(answer: Answer) -> list[Instruction]:
    given = answer.demonstration.instructions
    parts = [given] if isinstance(given, (str, Instruction)) else list(given)
    return [part if isinstance(part, Instruction) else Instruction.chain(part) for part in parts]


def _length(answer: Answer) -> str:
    actions = answer.demonstration.actions
    if all(str(action) == "stay" for action in actions):
        return "0 (stay)"
    return str(len(actions)) if len(actions) < 5 else "5 or more"


def _known(answer: Answer) -> str:
    start = answer.demonstration.start
    assert isinstance(start, MazeState)
    return "unknown" if start.orientation is None else "known"


GROUPS: dict[str, Callable[[Answer], str]] = {
    "actions in the gold plan": _length,
    "orientation at the start": _known,
    "sentence": lambda answer: sentence_type(_instructions(answer)),
}


def breakdown(answers: Sequence[Answer]) -> dict[str, dict[str, tuple[int, int]]]:
    """Return (right, total) of each group of answers, for each way of grouping."""
    found: dict[str, dict[str, tuple[int, int]]] = {}
    for name, group in GROUPS.items():
        counts: dict[str, tuple[int, int]] = {}
        for answer in answers:
            right, total = counts.get(group(answer), (0, 0))
            counts[group(answer)] = (right + answer.right, total + 1)
        found[name] = dict(sorted(counts.items()))
    return found


@dataclass(frozen=True)
class ErrorReport:
    """Report on wrong answers.

    Parameters
    ----------
    title
        System and condition.
    answers
        Answers on held-out maps.
    most
        Number of errors to show, the most confident first.
    pictures
        Whether to draw the gold and the predicted path of each error.
    """

    title: str
    answers: Sequence[Answer]
    most: int = 50
    pictures: bool = True

    def errors(self) -> list[Answer]:
        """Return the wrong answers, the most confident first."""
        wrong = [answer for answer in self.answers if not answer.right]
        return sorted(wrong, key=lambda answer: -answer.plan.confidence)

    def markdown(self) -> str:
        """Return the counts as tables, without quoting sentences of the corpus."""
        answers = self.answers
        right = sum(answer.right for answer in answers)
        lines = [f"{self.title}: {right} of {len(answers)} right ({right / len(answers):.1%})."]
        for name, groups in breakdown(answers).items():
            lines += ["", f"| {name} | right | of | accuracy |", "|---|---|---|---|"]
            lines += [
                f"| {group} | {count} | {total} | {count / total:.1%} |"
                for group, (count, total) in groups.items()
            ]
        lines += ["", "| confidence | right | of | accuracy |", "|---|---|---|---|"]
        for low, high in ((0.0, 0.5), (0.5, 0.8), (0.8, 0.95), (0.95, 1.01)):
            inside = [each.right for each in answers if low <= each.plan.confidence < high]
            if inside:
                share = sum(inside) / len(inside)
                shown = f"{low:.2f}–{min(high, 1.0):.2f}"
                lines.append(f"| {shown} | {sum(inside)} | {len(inside)} | {share:.1%} |")
        return "\n".join(lines) + "\n"

    def html(self) -> str:
        """Return a self-contained page."""
        shown = self.errors()[: self.most]
        parts = [self._card(number, answer) for number, answer in enumerate(shown, 1)]
        return _PAGE.format(
            title=escape(self.title),
            style=STYLE,
            tables=_tables(self.markdown()),
            count=len(shown),
            cards="\n".join(parts),
        )

    def save(self, folder: str | Path) -> Path:
        """Write `errors.html` and `errors.md` into a folder; return the page's path."""
        folder = Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        write_atomically(folder / "errors.html", self.html())
        write_atomically(folder / "errors.md", self.markdown())
        return folder / "errors.html"

    def _card(self, number: int, answer: Answer) -> str:
        each, plan = answer.demonstration, answer.plan
        world = each.environment
        assert isinstance(world, MazeEnvironment)
        assert isinstance(each.start, MazeState)
        why = plan.explain()
        gold, chosen = (", ".join(map(str, actions)) for actions in (each.actions, plan.actions))
        chance = next((p.probability for p in plan.alternatives if p.actions == each.actions), None)
        noted = "not among the ten best" if chance is None else f"probability {chance:.2f}"
        picture = _picture(answer) if self.pictures else ""
        return _CARD.format(
            number=number,
            name=escape(f"{world.maze.name}, {each.name}"),
            confidence=f"{plan.confidence:.2f}",
            text=_aligned(why),
            start=escape(world.describe(each.start)),
            gold=escape(gold),
            noted=noted,
            chosen=_coloured(plan.actions),
            shown=escape(chosen),
            picture=picture,
            why=escape(str(why)),
        )


def _aligned(why: Explanation) -> str:
    """Return the text, with each word in the colour of the action that it most probably names."""
    best: dict[tuple[int, int], tuple[float, int]] = {}
    for number, step in enumerate(why.steps):
        share: dict[tuple[int, int], float] = {}
        for link in step.links:
            key = (link.sentence, link.position)
            share[key] = share.get(key, 0.0) + link.probability
        for key, probability in share.items():
            best[key] = max(best.get(key, (0.0, 0)), (probability, number))
    words = []
    for sentence, instruction in enumerate(why.instructions):
        for position, token in enumerate(instruction.tokens):
            probability, number = best.get((sentence, position), (0.0, 0))
            hint = f"{why.steps[number].action} {probability:.2f}" if probability else "no action"
            words.append(
                f'<span class="w" title="{escape(hint)}" style="{_colour(number, probability)}">'
                f"{escape(token)}</span>"
            )
    return " ".join(words)


def _coloured(actions: Sequence[object]) -> str:
    return " ".join(
        f'<span class="w" style="{_colour(number, 1.0)}">{escape(str(action))}</span>'
        for number, action in enumerate(actions)
    )


def _colour(number: int, strength: float) -> str:
    return f"background:hsl({_HUES[number % len(_HUES)]} 80% {97 - 20 * strength:.0f}%)"


def _picture(answer: Answer) -> str:
    """Return the gold and the predicted path side by side, as SVG."""
    shown = answer.demonstration
    world, way = cast(MazeEnvironment, shown.environment), [cast(MazeState, shown.start)]
    for action in shown.actions:
        way.append(world.step(way[-1], cast(Any, action)))
    ways = {"gold": way, "predicted": list(cast(Any, answer.plan.states))}
    return "".join(
        f"<figure>{world.draw(each[-1], each)}<figcaption>{name}</figcaption></figure>"
        for name, each in ways.items()
    )


def _tables(markdown: str) -> str:
    """Return the report's Markdown tables as HTML."""
    lines, inside = [], False
    for line in markdown.splitlines():
        if line.startswith("|---"):
            continue
        cells = [escape(cell.strip()) for cell in line.strip("|").split("|")]
        if line.startswith("|"):
            kind = "td" if inside else "th"
            if not inside:
                lines.append("<table>")
            inside = True
            lines.append("<tr>" + "".join(f"<{kind}>{cell}</{kind}>" for cell in cells) + "</tr>")
            continue
        if inside:
            lines.append("</table>")
        inside = False
        if line:
            lines.append(f"<p>{escape(line)}</p>")
    return "\n".join([*lines, "</table>"] if inside else lines)


_PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>{title}: errors</title>
<style>
body {{ font: 16px/1.5 system-ui, sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem;
  color: #2b2d33; background: #fcfbf8 }}
table {{ border-collapse: collapse; display: inline-table; margin: 0 2rem 1.5rem 0;
  vertical-align: top }}
th, td {{ padding: .15rem .7rem; text-align: right; border-bottom: 1px solid #ddd }}
th:first-child, td:first-child {{ text-align: left }}
article {{ border: 1px solid #ddd; border-radius: .5rem; padding: 1rem; margin: 1rem 0;
  background: white }}
article h3 {{ margin: 0 0 .5rem; font-size: 1rem }}
.w {{ padding: .1rem .25rem; border-radius: .25rem }}
dl {{ display: grid; grid-template-columns: 7rem 1fr; gap: .2rem .5rem; margin: .7rem 0 }}
dt {{ color: #777 }} dd {{ margin: 0 }}
figure {{ display: inline-block; width: 45%; margin: 1% }}
pre {{ overflow-x: auto; font-size: .8rem }}
{style}
</style>
<h1>{title}: errors</h1>
{tables}
<h2>The {count} most confident errors</h2>
<p>Each word has the colour of the action of the predicted plan that it most probably names,
stronger where that is surer; hover over it for the probability.</p>
{cards}
</html>
"""

_CARD = """<article>
<h3>{number}. {name} · confidence {confidence}</h3>
<p>{text}</p>
<dl>
<dt>start</dt><dd>{start}</dd>
<dt>gold</dt><dd>{gold} ({noted})</dd>
<dt>predicted</dt><dd title="{shown}">{chosen}</dd>
</dl>
{picture}
<details><summary>why</summary><pre>{why}</pre></details>
</article>"""


def follow_all(corpus: str | Path, preset: str = "best", row: str = "full") -> list[Answer]:
    """Return the answers to the sentences of each map, held out in turn."""
    task, sail = MazeTask(), load_sail(corpus)
    chosen = task.presets.select(preset, row)
    cases = task.prepare(sail, chosen)
    answers = []
    for name in task.parts(sail):
        follower, _ = task.fit(chosen, cases, Fold(name, (name,)))
        test = [each for each in cases if each.part == name]
        for case, plan in zip(test, follow_cases(follower, test), strict=True):
            assert plan is not None
            right = bool(task.judge(case, plan)["right"])
            answers.append(Answer(case.demonstration, plan, right))
    return answers


def main(arguments: Sequence[str] | None = None) -> None:
    """Train, follow and write the error report."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("corpus", help="the folder of the corpus")
    parser.add_argument("out", help="folder for errors.html and errors.md")
    parser.add_argument("--preset", default="best")
    parser.add_argument("--row", default="full")
    parser.add_argument("--most", type=int, default=50, help="number of errors to show")
    parser.add_argument("--no-pictures", action="store_true")
    settings = parser.parse_args(arguments)
    answers = follow_all(settings.corpus, settings.preset, settings.row)
    report = ErrorReport(
        f"Mazes, preset {settings.preset}, {settings.row}, single sentences",
        answers,
        settings.most,
        not settings.no_pictures,
    )
    print(f"written to {report.save(settings.out)}")


if __name__ == "__main__":
    main()
