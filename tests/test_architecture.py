"""The rooms of the house: imports point one way, and importing the package stays light."""

import ast
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

import groundling

SOURCE = Path(groundling.__file__).parent
ROOMS = (
    "errors", "limits", "trust", "settings", "files", "cache", "numba_internals", "array_views",
    "compiler",
    "ties", "ragged", "modelfolder", "language", "world", "examples", "svg", "data", "features",
    "history", "overlay",
    "inference", "models", "explain", "plan", "answers", "commands", "accuracy", "learning",
    "selection", "scale", "io",
    "checks",
    "estimator", "dialogue", "follower", "conversation", "agent",
)  # fmt: skip
"""The core from the ground up: each room may use those before it, and itself."""
TOP = ("corpora", "evaluation", "tasks", "gym", "home", "studio", "cli")
"""What stands on the core; later ones may use earlier ones."""
ORDER = {room: place for place, room in enumerate((*ROOMS, *TOP))}
FILES = sorted(SOURCE.rglob("*.py"))


@cache
def tree_of(path):
    return ast.parse(path.read_text(encoding="utf-8"))


def is_type_checking(node):
    return isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)


def imported(tree):
    """Yield the modules that a file imports when it runs, at its top or inside functions."""
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "write imports in full"
            if node.module == "groundling":
                yield from (f"groundling.{alias.name}" for alias in node.names)
            else:
                yield str(node.module)
        elif not is_type_checking(node):
            waiting.extend(ast.iter_child_nodes(node))


def imports_of(path):
    return set(imported(tree_of(path)))


def hinted(tree):
    """Yield the modules that a file imports for its annotations only."""
    for node in ast.walk(tree):
        if is_type_checking(node):
            yield from imported(ast.Module(node.body, []))


def room_of(path):
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_architecture_imports_point_one_way(path):
    room = room_of(path)
    if room in ("__init__", "__main__"):
        return
    assert room in ORDER, f"{room} has no place in the order of rooms; add it to ROOMS or TOP"
    for name in imports_of(path) | set(hinted(tree_of(path))):
        parts = name.split(".")
        if parts[0] == "groundling" and parts[1:] not in ([], ["__version__"]):
            if room in TOP and parts[1] in groundling.__all__:
                continue  # what stands on the core may use it as users do
            assert parts[1] in ORDER, f"{name} is in no room"
            assert ORDER[parts[1]] <= ORDER[room], f"{path} imports {name}, which stands above it"


MODELS = {"PlanModel", "DecisionModel", "TransducerModel", "Ensemble"}


def named_models(tree):
    """Yield the models that a file names other than to import one or as somebody's default."""
    fair = set()
    for node in ast.walk(tree):
        defaults = []
        if isinstance(node, (ast.FunctionDef, ast.Lambda)):
            defaults = [*node.args.defaults, *filter(None, node.args.kw_defaults)]
        elif isinstance(node, ast.ClassDef):
            fields = [each for each in node.body if isinstance(each, ast.AnnAssign)]
            defaults = [each.value for each in fields if each.value is not None]
        fair |= {id(each) for default in defaults for each in ast.walk(default)}
    for node in ast.walk(tree):
        name = getattr(node, "id", getattr(node, "attr", None))
        if isinstance(node, (ast.Name, ast.Attribute)) and name in MODELS and id(node) not in fair:
            yield name


def test_architecture_only_models_files_and_presets_know_which_model_it_is():
    for path in FILES:
        knows = path.stem.endswith("presets") or path.name == "configurations.py"
        if knows or room_of(path) in ("models", "io", "__init__"):
            continue
        found = set(named_models(tree_of(path)))
        assert not found, f"{path} names {', '.join(found)}; ask the protocol instead"


def test_architecture_rule_of_models_can_fail():
    fair = """
from groundling import PlanModel
def make(model=PlanModel(), *, other=PlanModel.flat()): return model
class Preset:
    model: Model = PlanModel()
"""
    assert not set(named_models(ast.parse(fair)))
    for unfair in (
        "def make(m):\n    return PlanModel()", "isinstance(m, (int, PlanModel))",
        "type(m) is groundling.PlanModel", "kinds = {PlanModel: 1}",
    ):  # fmt: skip
        assert set(named_models(ast.parse(unfair))) == {"PlanModel"}


def test_architecture_rule_can_fail():
    lazy = "def late():\n    from groundling.cli import main\n"
    hints = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import groundling.follower\n"
    assert "groundling.cli" in set(imported(ast.parse(lazy)))
    assert "groundling.follower" not in set(imported(ast.parse(hints)))
    assert "groundling.follower" in set(hinted(ast.parse(hints)))


def named_tasks(tree, names):
    """Yield the tasks that a file imports, or names by a whole string."""
    for name in (*imported(tree), *hinted(tree)):
        parts = name.split(".")
        if parts[:2] == ["groundling", "tasks"] and parts[2:3] and parts[2] in names:
            yield parts[2]
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and node.value in names:
            yield node.value


def test_architecture_no_file_outside_tasks_names_a_task():
    names = {path.parent.name for path in (SOURCE / "tasks").glob("*/task.py")}
    assert {"mazes", "maps", "puzzles"} <= names
    for path in FILES:
        if room_of(path) != "tasks":
            found = set(named_tasks(tree_of(path), names))
            assert not found, f"{path} names {', '.join(found)}; ask the registry of tasks instead"
    for unfair in ("from groundling.tasks.mazes.maze import Maze", "get_task('mazes')"):
        assert set(named_tasks(ast.parse(unfair), names)) == {"mazes"}


def test_architecture_no_module_can_run_stored_code():
    forbidden = {"pickle", "cPickle", "dill", "cloudpickle", "shelve", "marshal"}
    for path in FILES:
        used = {name.split(".")[0] for name in imports_of(path)}
        # Processes get their work through joblib; nothing is ever loaded with it.
        assert "joblib" not in used or path == SOURCE / "tasks" / "jobs.py", path
        assert not used & forbidden, path
        tree = tree_of(path)
        called = {ast.unparse(n.func) for n in ast.walk(tree) if isinstance(n, ast.Call)}
        assert not called & {"eval", "exec", "__import__"}, path


def test_architecture_xml_is_parsed_by_defusedxml_only():
    parsers = {"parse", "fromstring", "iterparse", "XML", "XMLParser", "parseString"}
    for path in FILES:
        tree = tree_of(path)
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and str(node.module).startswith("xml"):
                assert not {alias.name for alias in node.names} & parsers, path


def test_architecture_files_open_with_one_line():
    for path in FILES:
        tree = tree_of(path)
        assert (ast.get_docstring(tree) or "").strip(), f"{path} has no docstring"


def test_architecture_nobody_imports_what_another_module_keeps_to_itself():
    # A leading underscore says what is private; packages list in `__all__` what users import.
    for path in FILES:
        for node in ast.walk(tree_of(path)):
            if isinstance(node, ast.ImportFrom) and str(node.module).startswith("groundling"):
                private = [alias.name for alias in node.names if alias.name.startswith("_")]
                assert set(private) <= {"__version__"}, f"{path} imports {private}"


def run(code):
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_architecture_import_is_light():
    heavy = ("spacy", "thinc", "matplotlib", "typer", "torch", "pandas")
    code = f"import sys, groundling\nprint([m for m in {heavy!r} if m in sys.modules])"
    assert run(code).strip() == "[]"


def test_architecture_import_touches_no_global_state():
    code = """
import logging, random, sys, warnings
import numpy
numpy.random.seed(1); random.seed(1)
before = (numpy.random.get_state()[1].tobytes(), random.getstate(), logging.root.handlers[:],
          warnings.filters[:0], sys.getrecursionlimit())
import groundling
after = (numpy.random.get_state()[1].tobytes(), random.getstate(), logging.root.handlers[:],
         warnings.filters[:0], sys.getrecursionlimit())
print(before == after)
"""
    assert run(code).strip() == "True"


def test_architecture_every_public_name_exists():
    for name in groundling.__all__:
        assert hasattr(groundling, name)


def test_architecture_answering_does_not_import_the_trainer():
    code = """
import sys
import groundling.answers, groundling.models.learnt
print([name for name in sys.modules if name.startswith("groundling.learning")])
"""
    assert run(code).strip() == "[]"


def asked_by_name(tree):
    """Yield the attributes that a file asks for by a literal name."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and ast.unparse(node.func) in ("getattr", "hasattr"):
            name = node.args[1]
            if isinstance(name, ast.Constant) and not name.value.startswith("__"):
                yield name.value


def defined(tree):
    """Yield the attributes that the classes of a file have."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            for each in ast.walk(node):
                if isinstance(each, ast.FunctionDef):
                    yield each.name
                elif isinstance(each, ast.Attribute) and isinstance(each.ctx, ast.Store):
                    yield each.attr
                elif isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store):
                    yield each.id


def test_architecture_core_asks_for_no_attribute_of_an_extra():
    trees = {path: tree_of(path) for path in FILES}
    core = [tree for path, tree in trees.items() if room_of(path) not in TOP]
    extra = {name for path in trees if room_of(path) in TOP for name in defined(trees[path])}
    known = {name for tree in core for name in defined(tree)}
    # What any environment, action or memory may have is told where these are described.
    classes = [each for tree in core for each in ast.walk(tree) if isinstance(each, ast.ClassDef)]
    told = " ".join(filter(None, map(ast.get_docstring, classes)))
    for tree, path in zip(core, (p for p in FILES if room_of(p) not in TOP), strict=True):
        for name in set(asked_by_name(tree)):
            if name in extra - known:
                assert f"`{name}" in told, f"{path} asks for {name}, which only an extra has"


def test_architecture_rule_of_attributes_can_fail():
    assert set(asked_by_name(ast.parse('getattr(world, "room_grid", None)'))) == {"room_grid"}
    made = "class Grid:\n    size = 3\n    def __init__(self): self.room_grid = []"
    assert {"size", "room_grid"} <= set(defined(ast.parse(made)))


def too_many_parameters(tree, most=8):
    """Yield the functions that have more parameters than that; `self` counts."""
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.Lambda)):
            given = node.args
            if len(given.posonlyargs) + len(given.args) + len(given.kwonlyargs) > most:
                yield getattr(node, "name", "lambda")


def test_architecture_no_function_of_the_overlay_has_more_than_eight_parameters():
    for path in (
        *(SOURCE / "overlay").glob("*.py"),
        SOURCE / "compiler.py",
        SOURCE / "array_views.py",
    ):
        found = list(too_many_parameters(tree_of(path)))
        assert not found, f"{path.name}: {', '.join(found)}"


def test_architecture_rule_of_parameters_can_fail():
    assert list(too_many_parameters(ast.parse("def wide(a, b, c, d, e, f, g, *, h, i): pass")))
    assert not list(too_many_parameters(ast.parse("def fair(a, b, c, d, e, f, g, *, h): pass")))


def test_architecture_only_tasks_name_tasks():
    """Outside of `tasks`, no code names a task: a new one needs no edits elsewhere."""
    names = {"mazes", "maps", "puzzles", "gscan", "geoqa"}
    for path in FILES:
        if room_of(path) == "tasks":
            continue
        docstrings = {
            id(node.body[0].value)
            for node in ast.walk(tree_of(path))
            if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef))
            and node.body
            and isinstance(node.body[0], ast.Expr)
        }
        for node in ast.walk(tree_of(path)):
            if isinstance(node, ast.Constant) and id(node) not in docstrings:
                assert node.value not in names, f"{path}, line {node.lineno}"
        for name in imports_of(path):
            assert not name.startswith(tuple(f"groundling.tasks.{each}" for each in names)), path
