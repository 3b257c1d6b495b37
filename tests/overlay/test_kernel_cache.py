"""Compiled kernels are kept by all that they depend on, so that tests run the code on disk."""

import ast
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

import groundling
from groundling import compiling

ROOT, PACKAGE = Path(__file__).parents[2], Path(groundling.__file__).parent
TWIN = "tests/overlay/test_semirings.py::test_semirings_equal_brute_force"


def test_kernel_sources_are_all_files_that_compile_something():
    found = {*compiling.kernel_sources(), Path(compiling.__file__), PACKAGE / "internals.py"}
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_bytes())):
            names = [each.name for each in getattr(node, "names", ()) if hasattr(each, "name")]
            modules = [getattr(node, "module", None) or "", *names]
            if "njit" in names or any(each.split(".")[0] == "numba" for each in modules):
                assert path in found


def test_digest_depends_on_every_source_and_version(monkeypatch, tmp_path):
    copy = tmp_path / "groundling"
    (copy / "overlay").mkdir(parents=True)
    for name in ("compiling.py", "internals.py", "overlay/skeletons.py"):
        (copy / name).write_text("groundling.compiling")
    monkeypatch.setattr(compiling, "_PACKAGE", copy)
    monkeypatch.setattr(compiling, "__file__", str(copy / "compiling.py"))
    digest = compiling.digest.__wrapped__
    seen = {digest()}
    for name in ("internals.py", "overlay/skeletons.py"):
        (copy / name).write_text("groundling.compiling # changed")
        seen.add(digest())
    for module in (compiling.numba, compiling.llvmlite, compiling.np):
        monkeypatch.setattr(module, "__version__", "0.0.0")
        seen.add(digest())
    monkeypatch.setattr(compiling.binding, "get_host_cpu_name", lambda: "abacus")
    seen.add(digest())
    monkeypatch.setattr(compiling, "DEBUG", not compiling.DEBUG)
    seen.add(digest())
    assert len(seen) == 8


def test_cache_deletes_digests_that_were_not_used_lately(monkeypatch, tmp_path):
    monkeypatch.setattr(compiling.numba.config, "CACHE_DIR", str(tmp_path))
    kept = tmp_path / "groundling-kernels"
    for age in range(9):
        folder = kept / f"digest{age}"
        folder.mkdir(parents=True)
        (folder / "kernel").write_text("code")
        used = time.time() - age * 24 * 3600
        os.utime(folder, (used, used))
    folder = compiling.cache_folder.__wrapped__()
    assert folder is not None
    assert sorted(each.name for each in kept.iterdir()) == sorted(
        [folder.name, *(f"digest{age}" for age in range(4))]
    )


def test_cache_is_not_kept_where_nothing_can_be_written(monkeypatch, tmp_path):
    (tmp_path / "file").write_text("no folder")
    monkeypatch.setattr(compiling.numba.config, "CACHE_DIR", str(tmp_path / "file"))
    assert compiling.cache_folder.__wrapped__() is None


@pytest.fixture(scope="module")
def copied(tmp_path_factory):
    """A copy of the package and its tests, with a warm cache."""
    root = tmp_path_factory.mktemp("copy")
    hidden = shutil.ignore_patterns("__pycache__", "pipeline", "*.npz")
    shutil.copytree(PACKAGE, root / "src" / "groundling", ignore=hidden)
    shutil.copytree(ROOT / "tests" / "overlay", root / "tests" / "overlay", ignore=hidden)
    (root / "tests" / "__init__.py").touch()
    done = twins(root)
    assert done.returncode == 0, done.stdout[-3000:]
    return root


def twins(root):
    surroundings = {**os.environ, "PYTHONPATH": f"{root / 'src'}:{root}"}
    surroundings |= {"NUMBA_CACHE_DIR": str(root / "cache"), "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-x", "-c", "/dev/null", "--rootdir", str(root),
         "-p", "no:cacheprovider", TWIN, "-k", "flat-logs or units]"],
        cwd=root, capture_output=True, text=True, check=False, timeout=1200, env=surroundings,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        # A callee in another file, and a constant that is compiled in.
        ("recursion.py", "ring.times(load(above, s), load(message, s))", "load(above, s)"),
        ("skeletons.py", "BOUND = 0", "BOUND = 7"),
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
    assert "Not equal to tolerance" in done.stdout or "AssertionError" in done.stdout
