"""The `groundling demo` command: train and act in generated worlds."""

from __future__ import annotations

import json
import warnings
from collections.abc import Sequence
from pathlib import Path
from time import perf_counter

from rich.console import Console
from rich.table import Table
from rich.text import Text

from groundling import Follower, __version__
from groundling.cli.progress import progress
from groundling.errors import ConvergenceWarning, GroundlingError, ModelFileError
from groundling.explain.explanation import Explanation
from groundling.explain.prose import caused_by, why_added
from groundling.files import read_plain, write_atomically
from groundling.language.parser import load_parser
from groundling.limits import NOTE_BYTES
from groundling.svg import write_picture
from groundling.tasks.benchmark import DemoRequest, DemoWorld
from groundling.tasks.task_registry import DEMO, get_task


def run_demo(
    out: Path,
    *,
    parser: str = "default",
    demonstrations: int = 300,
    held_out: int = 100,
    again: bool = False,
    console: Console | None = None,
) -> None:
    """Train or load the model of the demo, score it, and follow some instructions."""
    console = Console(highlight=False) if console is None else console
    load_parser(parser)  # raises an error for an unknown name before training
    out.mkdir(parents=True, exist_ok=True)
    world = get_task(DEMO).demo(demonstrations, held_out)
    places, name = {id(each.environment) for each in world.training}, world.title.lower()
    console.print(
        f"The {name} and the sentences of this demo are generated; no corpus is needed.\n"
        f"Learning from {len(world.training)} demonstrations in {len(places)} {name}; one more "
        "is held out for testing."
    )
    follower = _trained(world, out / "model", parser, demonstrations, again, console)
    _show_weights(console, follower, world.words)
    _show_scores(console, follower, world)
    for request in world.requests:
        _follow(console, follower, world, request, out)
    console.print(f"\nPictures and the trained model are in {out}/.", soft_wrap=True)


def _trained(
    world: DemoWorld, folder: Path, parser: str, demonstrations: int, again: bool, console: Console
) -> Follower:
    """Load the follower of an earlier run with the same settings, or train a new one."""
    follower = world.follower(parser)
    note = folder.parent / "model.json"
    made_by = {
        "version": __version__,
        "settings": repr(follower.get_params()),
        "demonstrations": demonstrations,
    }
    if not again and note.exists():
        try:
            if json.loads(read_plain(note, NOTE_BYTES, ModelFileError)) == made_by:
                loaded = Follower.load(folder)
                console.print(
                    f"Loaded the model of an earlier run from {folder}/. "
                    "Pass --again to train it again."
                )
                return loaded
        except (GroundlingError, ValueError, RecursionError):
            console.print(f"The model in {folder}/ does not match this demo; training a new one.")
    began = perf_counter()
    with progress(console, "learning") as report, warnings.catch_warnings():
        # The demo stops shortly before convergence to save time.
        warnings.simplefilter("ignore", ConvergenceWarning)
        follower.fit(world.training, progress=report, check=False)
    console.print(
        f"Learnt {len(follower.theta_):,} weights in {perf_counter() - began:.0f} s "
        "(the first run also compiles the kernels)."
    )
    follower.save(folder)
    write_atomically(note, json.dumps(made_by, indent=1))
    return follower


def _show_weights(console: Console, follower: Follower, words: Sequence[str]) -> None:
    """Print the strongest weights of some words, like Table 2 of the paper."""
    console.print("\n[bold]What it learnt[/bold]: the strongest features of some words")
    console.print(
        "(‹item›, ‹floor›: any word for an item or a floor; ~: the names match; "
        "m: after a move, t: after a turn)"
    )
    table = Table(box=None, pad_edge=False)
    for name in ("weight", "word", "means"):
        table.add_column(name, justify="right" if name == "weight" else "left")
    for word in words:
        found = [each for each in follower.weights(f"word={word} ∧ ", most=40) if each[1] > 0]
        for name, weight in found[:2]:
            right = name.rpartition(" ∧ ")[2]
            table.add_row(f"{weight:+.2f}", Text(word), Text(right))
    console.print(table)
    learnt = follower.lexicon_.table()
    if learnt:
        console.print("Lexicon:", learnt, markup=False)


def _show_scores(console: Console, follower: Follower, world: DemoWorld) -> None:
    console.print(f"\n[bold]In the unseen {world.part}[/bold]")
    for name, cases in (
        ("single sentences", world.sentences),
        ("two-sentence routes", world.routes),
    ):
        share = follower.score(cases)
        console.print(f"  {name}: {share:.0%} of {len(cases)} end in the right place and direction")


def _follow(
    console: Console, follower: Follower, world: DemoWorld, request: DemoRequest, out: Path
) -> None:
    plan = follower.follow(request.text, world.unseen, request.start)
    console.print(f"\n[bold]“{request.text}”[/bold]", soft_wrap=True)
    console.print(f"  {world.unseen.describe(request.start)}; {request.remark}", soft_wrap=True)
    why = plan.explain()
    actions = ", ".join(map(str, plan.actions))
    if plan.understood:
        console.print(f"  plan: {actions}  (confidence {plan.confidence:.2f})", soft_wrap=True)
    else:
        console.print(
            f"  not understood (confidence {plan.confidence:.2f}, below "
            f"{follower.threshold}); the best guess is {actions}",
            soft_wrap=True,
        )
    _show_alignment(console, why)
    drawn = out / f"{request.name}-maze.png"
    maze = write_picture(world.draw(plan), drawn, f"“{request.text}”")
    words = why.save(out / f"{request.name}-words.png")
    console.print(f"  pictures: {maze}, {words}", soft_wrap=True)


def _show_alignment(console: Console, why: Explanation) -> None:
    """Print the words that cause each action, and the nodes with which words align."""
    for number, step in enumerate(why.steps, 1):
        console.print(f"  {number}. {step.action:<12}← {caused_by(step)}", soft_wrap=True)
        if not step.asked:
            for line in why_added(step):
                console.print(f"       {line}", soft_wrap=True, markup=False)
        links = [link for link in step.links if link.probability >= 0.4]
        if links and len(step.nodes) > 1:
            shown = ", ".join(f"{each.word} → {each.node} {each.probability:.2f}" for each in links)
            console.print(f"       words on nodes: {shown}", soft_wrap=True)
