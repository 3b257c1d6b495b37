"""Measurements that run with any installed version of the library.

Run this file as a script: `python benchmarks/side.py NAME [size]` prints one line of JSON.
`before.py` runs it with this version and with an older one, and computes ratios.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # must be set before NumPy loads
os.environ.setdefault("OMP_NUM_THREADS", "1")
warnings.simplefilter("ignore")

Figures = dict[str, float]


def peak() -> float:
    """Return the peak memory of the process in megabytes."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM"):
            return float(line.split()[1]) / 1024
    return 0.0


def resident() -> float:
    """Return the current memory of the process in megabytes."""
    return (
        float(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGESIZE") / 2**20
    )


def forget_peak() -> None:
    """Reset the peak that `peak` returns (Linux)."""
    Path("/proc/self/clear_refs").write_text("5")


def fit(make: Callable[[], Any], shown: list[Any], warm: int) -> Figures:
    """Return the figures of one fit, after a small fit that loads the kernels."""
    make().fit(shown[:warm])
    first: list[float] = []
    forget_peak()
    began = time.process_time()

    def tell(step: Any) -> None:
        if step.stage.startswith("training"):
            first.append(time.process_time())

    taught = make().fit(shown, progress=tell)
    ended = time.process_time()
    return {
        "seconds": ended - began,
        "seconds_to_first_step": first[0] - began,
        "peak": peak(),
        "loss": taught.learnt_.loss if hasattr(taught, "learnt_") else taught.loss_,
    }


def follower(**settings: Any) -> Any:
    """Return a follower with all settings set, which mean the same in all versions."""
    import groundling
    from groundling import Features, Overlay

    chosen = {"overlay": Overlay(), "features": Features(), **settings}
    if hasattr(groundling, "PlanModel"):
        flat = chosen["overlay"].nodes == "flat"
        chosen["model"] = groundling.PlanModel.flat() if flat else groundling.PlanModel()
    return groundling.Follower(**chosen)


def fit_scene(size: float) -> Figures:
    """Fit a rich scene: 1,000 demonstrations of one action, graphs of 8 to 20 nodes."""
    from groundling import Learning, Search

    sys.path.insert(0, str(Path(__file__).parent))
    from scene import demonstrations

    def make() -> Any:
        return follower(
            parser="chain", search=Search(max_length=1), learning=Learning(iterations=30)
        )

    return fit(make, demonstrations(max(10, round(1000 * size))), 5)


def mazes_settings(iterations: int) -> dict[str, Any]:
    """Return the best settings for mazes in version 0.1.0, with a single model."""
    from groundling import Features, Learning, Overlay, Search

    return {
        "overlay": Overlay.flat(),
        "features": Features(slots=("floor", "wall", "item"), numbers=("equal",), min_count=0),
        "learning": Learning(iterations=iterations),
        "search": Search(max_length=3, decode="outcome"),
    }


def fit_mazes(size: float) -> Figures:
    """Fit generated mazes: flat plans of up to three actions, all enumerated."""
    from groundling.tasks.mazes import generate_demonstrations, generate_mazes

    shown = generate_demonstrations(generate_mazes(1, 4), max(20, round(800 * size)), seed=1)
    follower(**mazes_settings(1)).fit(shown)  # so that all sentences are parsed and cached
    return fit(lambda: follower(**mazes_settings(40)), shown, 3)


def task(name: str, folder: Path | None, size: float) -> tuple[Callable[[], Any], list[Any]]:
    """Return a function that makes followers of a task's best preset, and demonstrations."""
    try:
        from groundling.tasks.task_registry import get_task
    except ImportError:  # 0.1.0
        from groundling.tasks.catalogue import get_task

        found = get_task(name)
        chosen, corpus = found.preset("best", "full"), found.load(folder, size)
        shown = found.lesson(corpus, chosen, None).demonstrations
    else:
        found = get_task(name)
        chosen, corpus = found.presets.select("best"), found.load(folder, size)
        from groundling.tasks.benchmark import demonstrations

        shown = demonstrations(found.prepare(corpus, chosen), found.held_out(corpus))
    return lambda: chosen.follower(seed=0), list(shown)


def fit_task(name: str, size: float, folder: Path | None = None) -> Figures:
    """Fit the best preset of a task on generated data or on its corpus."""
    make, shown = task(name, folder, size)
    parsed = make().fit(shown[:3])  # so that all sentences are parsed and cached beforehand
    del parsed
    return fit(make, shown, 3)


def flat_follower(demonstrations: int) -> tuple[Any, list[Any]]:
    """Return a follower of generated mazes, and requests in an unseen maze."""
    from groundling.tasks.mazes import generate_demonstrations, generate_mazes

    *training, unseen = generate_mazes(1, 4)
    shown = generate_demonstrations(training, demonstrations, seed=1)
    taught = follower(**mazes_settings(10)).fit(shown)
    wanted = generate_demonstrations([unseen], demonstrations, seed=2)
    return taught, [(each.instructions, each.environment, each.start) for each in wanted]


def follow(size: float) -> Figures:
    """Follow parsed sentences in an unseen maze, one by one and many at once."""
    taught, requests = flat_follower(max(20, round(300 * size)))
    taught.follow_many(requests)
    one, many = [], []
    for _ in range(5):
        began = time.process_time()
        for request in requests[:50]:
            taught.follow(*request)
        one.append(time.process_time() - began)
        began = time.process_time()
        taught.follow_many(requests)
        many.append(time.process_time() - began)
    return {
        "one": min(len(requests), 50) / min(one),
        "many": len(requests) / min(many),
    }


def new_worlds(size: float) -> Figures:
    """Follow requests about a new world each, and 100 requests about one new state."""
    from groundling import Features, Learning, Search

    sys.path.insert(0, str(Path(__file__).parent))
    import new_worlds as worlds

    found: Figures = {}
    count = max(5, round(100 * size))
    for name, slots in (("home", ("name", "area", "kind")), ("room", ()), ("single room", ())):
        features = Features(slots=slots, numbers=(), names="spans") if slots else Features()
        taught = follower(
            parser="chain", features=features, search=Search(max_length=1),
            learning=Learning(iterations=40),
        ).fit(worlds.demonstrations(name, 150, 1, size=12))  # fmt: skip
        for seed in range(30):  # so that caches have the same content as in a service
            taught.follow(*worlds.requests(name, 1, 1000 + seed)[0][:3])
        seconds, right = [], 0
        for *request, action in worlds.requests(name, count, 2):
            began = time.process_time()
            plan = taught.follow(*request)
            seconds.append(time.process_time() - began)
            right += plan.actions == (action,)
        many = []
        for seed in range(3):
            asked = worlds.requests(name, 100, 3 + seed, together=True)
            began = time.process_time()
            taught.follow_many([each[:3] for each in asked])
            many.append(time.process_time() - began)
        name = name.replace(" ", "_")
        found[f"{name}_one"] = count / sum(seconds)
        found[f"{name}_p95_ms"] = 1000 * sorted(seconds)[round(0.95 * (count - 1))]
        found[f"{name}_many"] = 100 / min(many)
        found[f"{name}_right"] = right / count
    return found


def hassil(size: float) -> Figures:
    """Recognise the sentences of new homes with hassil, passing the names each time."""
    from hassil import Intents, recognize
    from hassil.intents import TextSlotList

    sys.path.insert(0, str(Path(__file__).parent))
    import new_worlds as worlds

    said = {
        verb.title().replace(" ", ""): {
            "data": [{"sentences": [f"({'|'.join(ways)}) the {{name}} [in the {{area}}]"]}]
        }
        for verb, ways in worlds.VERBS.items()
    }
    intents = Intents.from_dict({"language": "en", "intents": said})
    areas = TextSlotList.from_tuples([(each, each) for each in worlds.AREAS], name="area")
    count, found = max(5, round(100 * size)), 0
    asked = worlds.requests("home", count, 2)
    began = time.process_time()
    for text, _, state, _ in asked:
        names = TextSlotList.from_tuples([(each.name, each.name) for each in state], name="name")
        result = recognize(text, intents, slot_lists={"name": names, "area": areas})
        found += result is not None
    return {"one": count / (time.process_time() - began), "found": found / count}


def fit_short(size: float) -> Figures:
    """Fit short demonstrations in a rich scene, with automatic settings."""
    from groundling import Follower

    sys.path.insert(0, str(Path(__file__).parent))
    from scene import demonstrations

    return fit(lambda: Follower(parser="chain"), demonstrations(max(20, round(20_000 * size))), 20)


def memory_per_plan(size: float) -> Figures:
    """Follow from new initial states; return by how many bytes each plan grows the process."""
    import gc

    from groundling.tasks.mazes import MazeEnvironment, generate_mazes

    taught, _ = flat_follower(20)
    mazes = generate_mazes(11, max(2, round(12 * size)))
    worlds = [MazeEnvironment(maze) for maze in mazes]
    asked = [
        ("turn left and walk to the lamp", world, world.start(place, 90 * turn))
        for world, maze in zip(worlds, mazes, strict=True)
        for place in maze.positions
        for turn in range(4)
    ]
    taught.follow(*asked[0])
    gc.collect()
    before, plans = resident(), 0
    for request in asked[1:]:
        plans += count_plans(taught, request)
    gc.collect()
    return {"bytes": (resident() - before) * 2**20 / plans, "plans": plans}


def count_plans(taught: Any, request: tuple[Any, ...]) -> int:
    """Follow a request; return the number of plans that were compared."""
    text, world, start = request
    taught.follow(text, world, start)
    asked = [(text, world, (start,))]
    if hasattr(taught, "learnt_"):
        from groundling.answers import score_plans

        [[(plans, _)]] = list(score_plans(taught.learnt_, asked))
    else:  # version 0.1.0
        [[(plans, _)]] = list(taught.score_plans(asked))
    return len(plans)


def requests(size: float) -> Figures:
    """Follow 20,000 different requests; return by how much the second half grows memory."""
    from groundling.tasks.mazes import MazeEnvironment, generate_mazes

    taught, _ = flat_follower(20)
    count = max(100, round(20_000 * size))
    asked, half = 0, resident()
    for seed in range(1000):
        [maze] = generate_mazes(100 + seed, 1)
        world = MazeEnvironment(maze)
        for number, place in enumerate(maze.positions):
            for turn in range(4):
                text = f"turn left and walk {number % 4 + 1} steps to the lamp by thing {asked}"
                taught.follow(text, world, world.start(place, 90 * turn))
                asked += 1
                if asked == count // 2:
                    half = resident()
                if asked == count:
                    return {"requests": asked, "requests_growth_mb": resident() - half}
    raise AssertionError("too few places")


def first_run(size: float) -> Figures:
    """Train and follow without compiled kernels, timed from import to the first plan."""
    from groundling import Demonstration, GroundingGraph

    class Lamp:
        def actions(self, state: str) -> tuple[str, ...]:
            return ("on", "off")

        def step(self, state: str, action: str) -> str:
            return action

        def ground(self, state: str, action: str, after: str) -> Any:
            # Two nodes, so that the kernels of graphs are compiled, not only those of flat plans.
            nodes = {"event": {action: True}, "lamp": {"round": True}}
            return GroundingGraph(nodes, [("event", "lamp", "of")])

    shown = [
        Demonstration("light the lamp", Lamp(), "off", ("on",)),
        Demonstration("darken the lamp", Lamp(), "on", ("off",)),
    ]
    from groundling import Search

    taught = follower(parser="chain", search=Search(max_length=4)).fit(shown)
    taught.follow("light it", Lamp(), "off")
    return {"seconds": time.process_time()}


def demo(size: float) -> Figures:
    """Run `groundling demo` without compiled kernels."""
    import subprocess

    program = Path(sys.executable).with_name("groundling")
    with tempfile.TemporaryDirectory() as folder:
        before = os.times()
        subprocess.run([program, "demo"], cwd=folder, check=True, capture_output=True)
        after = os.times()
    return {
        "seconds": after.children_user - before.children_user
        + after.children_system - before.children_system
    }  # fmt: skip


def main() -> None:
    """Run the measurement that the command line names."""
    name, size = sys.argv[1], float(sys.argv[2]) if len(sys.argv) > 2 else 1.0
    corpora = os.environ.get("GROUNDLING_CORPORA")
    jobs: dict[str, Callable[[], Figures]] = {
        "fit scene": lambda: fit_scene(size),
        "fit mazes": lambda: fit_mazes(size),
        "follow": lambda: follow(size),
        "memory": lambda: memory_per_plan(size),
        "requests": lambda: requests(size),
        "first run": lambda: first_run(size),
        "demo": lambda: demo(size),
        "new worlds": lambda: new_worlds(size),
        "hassil": lambda: hassil(size),
        "fit short": lambda: fit_short(size),
    }
    for each in ("mazes", "maps", "puzzles"):
        jobs[f"fit {each} corpus"] = lambda each=each: fit_task(each, size, Path(str(corpora)))
    print(json.dumps(jobs[name]()))


if __name__ == "__main__":
    main()
