"""Compiled kernels are kept by all that they depend on, so that tests run the code on disk."""

import ast
import inspect
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

import groundling
from groundling import compiler
from groundling.overlay.passes import pass_instances
from groundling.overlay.potentials import return_sets, score_sets
from tests.overlay.semirings import CASES, make

ROOT, PACKAGE = Path(__file__).parents[2], Path(groundling.__file__).parent


def test_kernel_sources_are_all_files_that_compile_something():
    found = {*compiler.kernel_sources(), Path(compiler.__file__), PACKAGE / "numba_internals.py"}
    for path in PACKAGE.rglob("*.py"):
        text = path.read_bytes()
        if b"njit" not in text and b"numba" not in text:
            continue
        for node in ast.walk(ast.parse(text)):
            names = [each.name for each in getattr(node, "names", ()) if hasattr(each, "name")]
            modules = [getattr(node, "module", None) or "", *names]
            if "njit" in names or any(each.split(".")[0] == "numba" for each in modules):
                assert path in found


def test_kernel_sources_define_all_that_kernels_are_given():
    """A field that is moved in a named tuple changes what a kernel reads, not its signature."""
    made = make(CASES[0])
    made.scorer.loss(made.theta)
    found, waiting = set(), []
    for kernel in (pass_instances, score_sets, return_sets):
        waiting += [kind for signature in kernel.signatures for kind in signature]
    while waiting:
        kind = waiting.pop()
        if hasattr(kind, "instance_class"):
            found.add(Path(inspect.getfile(kind.instance_class)))
        waiting += getattr(kind, "types", ())
    assert len(found) > 4
    assert found <= set(compiler.kernel_sources())


def test_digest_depends_on_every_source_and_version(monkeypatch, tmp_path):
    copy = tmp_path / "groundling"
    (copy / "overlay").mkdir(parents=True)
    for name in ("compiler.py", "numba_internals.py", "overlay/skeletons.py"):
        (copy / name).write_text("groundling.compiler")
    monkeypatch.setattr(compiler, "_PACKAGE", copy)
    monkeypatch.setattr(compiler, "__file__", str(copy / "compiler.py"))
    digest = compiler.digest.__wrapped__
    seen = {digest()}
    for name in ("numba_internals.py", "overlay/skeletons.py"):
        (copy / name).write_text("groundling.compiler # changed")
        seen.add(digest())
    for module in (compiler.numba, compiler.llvmlite, compiler.np):
        monkeypatch.setattr(module, "__version__", "0.0.0")
        seen.add(digest())
    monkeypatch.setattr(compiler.binding, "get_host_cpu_name", lambda: "abacus")
    seen.add(digest())
    monkeypatch.setattr(compiler, "DEBUG", not compiler.DEBUG)
    seen.add(digest())
    assert len(seen) == 8


def test_cache_deletes_digests_that_were_not_used_lately(monkeypatch, tmp_path):
    monkeypatch.setattr(compiler.numba.config, "CACHE_DIR", str(tmp_path))
    kept = tmp_path / "groundling-kernels"
    for age in range(9):
        folder = kept / f"digest{age}"
        folder.mkdir(parents=True)
        (folder / "kernel").write_text("code")
        used = time.time() - age * 24 * 3600
        os.utime(folder, (used, used))
    folder = compiler.cache_folder.__wrapped__()
    assert folder is not None
    assert sorted(each.name for each in kept.iterdir()) == sorted(
        [folder.name, *(f"digest{age}" for age in range(4))]
    )


def test_cache_is_not_kept_where_nothing_can_be_written(monkeypatch, tmp_path):
    (tmp_path / "file").write_text("no folder")
    monkeypatch.setattr(compiler.numba.config, "CACHE_DIR", str(tmp_path / "file"))
    assert compiler.cache_folder.__wrapped__() is None


# Two kernels that compile in seconds: one of the package, and one that reads a constant of another
# file in a callee of a third. What they say is compared with what NumPy or the rule says.
TWINS = """
import groundling
print(groundling.__file__)
from typing import NamedTuple
import numpy as np
from groundling.compiler import njit
from groundling.overlay.batch import WORD
from groundling.overlay.recursion import _kept
from tests.overlay.semirings import CASES, make

class Words(NamedTuple):
    stay: int
    word: np.ndarray

class Ring(NamedTuple):
    zero: float

class Psi(NamedTuple):
    edge: np.ndarray
    ring: Ring

@njit
def kept(words, w, psi):
    return _kept(words, w, psi)

records = np.zeros(3, WORD)
records["link"] = records["dependency"] = np.arange(3)
words, psi = Words(0, records), Psi(np.array([[3.0], [4.0], [5.0]]), Ring(0.5))
# Bound and free words may stay at a node, heads of units may not.
np.testing.assert_allclose([kept(words, w, psi) for w in range(3)], [3.0, 4.0, 0.5])
made = make(CASES[0])
score, tables = made.scorer.potentials(made.theta).logs.pair, made.scorer.tables

def dense(starts, columns, amounts):
    rows = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    table = np.zeros((len(starts) - 1, columns.max() + 1))
    np.add.at(table, (rows, columns), amounts)
    return table

words = dense(tables.set_labels, tables.set_label, tables.set_amount)
joined = dense(tables.label_rows, tables.row_label,
               tables.row_value * made.theta[tables.row_feature])
nodes = dense(tables.node_labels, tables.node_label, tables.node_amount)
pair_set = np.repeat(np.arange(len(words)), np.diff(tables.set_pairs))
np.testing.assert_allclose(score, (words @ joined @ nodes.T)[pair_set, tables.pair_node])
"""


@pytest.fixture(scope="module")
def copied(tmp_path_factory):
    """A copy of the package and its tests, with a warm cache."""
    root = tmp_path_factory.mktemp("copy")
    hidden = shutil.ignore_patterns("__pycache__", "pipeline", "*.npz")
    shutil.copytree(PACKAGE, root / "src" / "groundling", ignore=hidden)
    shutil.copytree(ROOT / "tests" / "overlay", root / "tests" / "overlay", ignore=hidden)
    (root / "tests" / "__init__.py").touch()
    (root / "twins.py").write_text(TWINS)
    done = twins(root)
    assert done.returncode == 0, done.stderr[-3000:]
    kept = {path.name.split("-")[0] for path in (root / "cache").rglob("*.nbc")}
    assert kept == {"twins.kept", "potentials.score_sets"}
    return root


def twins(root):
    # Isolated (-I): PYTHONPATH does not say what is imported. As a module: numba takes classes of
    # a script for new ones at every start, and would find nothing in the cache.
    script = f"import sys; sys.path[:0] = {[str(root / 'src'), str(root)]}; import twins"
    done = subprocess.run(
        [sys.executable, "-I", "-B", "-c", script],
        cwd=root, capture_output=True, text=True, check=False, timeout=600,
        env={**os.environ, "NUMBA_CACHE_DIR": str(root / "cache")},
    )  # fmt: skip
    imported = root / "src" / "groundling" / "__init__.py"
    assert done.stdout.splitlines()[:1] == [str(imported)], done.stderr[-3000:]
    return done


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        # Callees in another file, and a constant that is compiled in.
        ("recursion.py", "text.stay >= 0 and text.word[w].link != UNIT", "text.stay >= 0"),
        ("simd.py", '(operator.add, "fadd")', '(operator.add, "fmul")'),
        ("skeletons.py", "UNIT = 2", "UNIT = 7"),
    ],
)
def test_twins_fail_when_a_callee_changes_under_a_warm_cache(copied, file, old, new):
    path = copied / "src" / "groundling" / "overlay" / file
    text = path.read_text()
    assert text.count(old) == 1
    times = path.stat()
    path.write_text(text.replace(old, new))
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))  # not even its time tells
    try:
        done = twins(copied)
    finally:
        path.write_text(text)
    assert done.returncode == 1, done.stdout[-3000:]
    assert "Not equal to tolerance" in done.stderr
