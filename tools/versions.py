"""Test Groundling with the lowest declared and the newest dependencies, on several Pythons.

    python -m tools.versions --python 3.11 --python 3.12 --python 3.13

Creates a temporary environment for each (with uv), installs the package with its extras, and
runs `tools/smoke.py` there. Reports Pythons that are not installed.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

__all__ = ["find_python", "main"]

ROOT = Path(__file__).resolve().parent.parent
EXTRAS = "cluster,data,gym,home,mcp,studio"
RESOLUTIONS = ("lowest-direct", "highest")
PYTHONS = ("3.11", "3.12", "3.13")


def find_python(version: str) -> Path | None:
    """Return the newest interpreter of a version: this one, one on the path, or one of pyenv.

    >>> find_python(f"{sys.version_info[0]}.{sys.version_info[1]}") is not None
    True
    >>> find_python("1.5")
    """
    if sys.version.startswith(f"{version}."):
        return Path(sys.executable)
    homes = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    found = sorted(homes.glob(f"{version}.*/bin/python"), key=lambda path: len(str(path)))
    if found:  # before the path, because pyenv puts shims there for versions that are not selected
        return found[-1]
    there = shutil.which(f"python{version}")
    return None if there is None else Path(there)


def main(arguments: Sequence[str] | None = None) -> None:
    """Test all versions of Python; exit with 1 if any test fails."""
    reader = argparse.ArgumentParser(prog="python -m tools.versions", description=__doc__)
    reader.add_argument("--python", action="append", help=f"By default {', '.join(PYTHONS)}.")
    reader.add_argument("--resolution", action="append", choices=RESOLUTIONS)
    reader.add_argument("--wheel", type=Path, help="Install this wheel instead of the source.")
    reader.add_argument("--tests", nargs="*", default=[], help="Tests to run in addition.")
    chosen = reader.parse_args(arguments)
    failed = []
    for version in chosen.python or PYTHONS:
        python = find_python(version)
        if python is None:
            print(f"Python {version} is not installed here: skipped.")
            continue
        for resolution in chosen.resolution or RESOLUTIONS:
            began = time.monotonic()
            with tempfile.TemporaryDirectory(prefix="groundling-versions-") as name:
                try:
                    _try(Path(name), python, resolution, chosen.wheel, chosen.tests)
                    told = "fine"
                except subprocess.CalledProcessError as error:
                    told = f"broken ({' '.join(map(str, error.cmd))[:200]})"
                    failed.append(f"{version} {resolution}")
            print(f"Python {version}, {resolution}: {told}, {time.monotonic() - began:.0f} s")
    if failed:
        sys.exit(f"Broken: {', '.join(failed)}")


def _try(
    folder: Path, python: Path, resolution: str, wheel: Path | None, tests: Sequence[str]
) -> None:
    own = folder / "environment"
    inside = own / ("Scripts" if os.name == "nt" else "bin") / "python"
    _run([*_uv(), "venv", "--quiet", "--python", str(python), str(own)])
    install = [*_uv(), "pip", "install", "--quiet", "--python", str(inside)]
    package = f"{wheel.resolve() if wheel else ROOT}[{EXTRAS}]"
    # Only Groundling is built from source; other packages must have a wheel for this Python.
    binary = ["--only-binary", ":all:", "--no-binary", "groundling"] if wheel is None else []
    _run([*install, "--resolution", resolution, *binary, package])
    clean = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    clean["GROUNDLING_CACHE"] = ""
    for line in _versions(inside):
        print(f"  {line}")
    _run([str(inside), str(ROOT / "tools" / "smoke.py")], cwd=folder, env=clean)
    if tests:
        _run([*install, "pytest>=8.2", "pytest-xdist>=3.6", "hypothesis>=6.100", "httpx>=0.27"])
        # The plugin of old versions of anyio warns under new versions of pytest.
        plain = ["-p", "no:cacheprovider", "-p", "no:anyio"]
        _run([str(inside), "-m", "pytest", *plain, *tests], cwd=ROOT, env=clean)


def _versions(inside: Path) -> Iterator[str]:
    command = [*_uv(), "pip", "list", "--quiet", "--python", str(inside), "--format", "freeze"]
    listed = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    yield " ".join(each for each in listed if not each.startswith("groundling"))


def _uv() -> list[str]:
    return [sys.executable, "-m", "uv"]


def _run(command: Sequence[str], **options: object) -> None:
    subprocess.run(command, check=True, **options)  # type: ignore[call-overload]


if __name__ == "__main__":
    main()
