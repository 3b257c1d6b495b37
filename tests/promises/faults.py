"""Saving a model on a disk that fails: every call that touches it is made to, one by one.

A script of its own, without numpy and threads, so that it can fork:
`python faults.py SCENARIO FOLDER` prints how many faults were survived.
"""

import errno
import json
import os
import shutil
import sys
import time
from pathlib import Path

from groundling.errors import ModelFileError
from groundling.modelfolder import read_folder, write_folder

CALLS = ("open", "write", "fsync", "fchmod", "replace", "unlink", "close", "mkdir", "rmdir",
         "fstat", "scandir", "stat", "lstat", "fdopen")  # fmt: skip
CREATING = ("write", "fsync", "mkdir")
NAMES = ("tables.json", "weights.safetensors")
MINE = "my notes.txt"


def model(number, size=3000):
    """Return the manifest and the parts of a model."""
    parts = {
        "tables.json": json.dumps({"words": [f"{number}-{n}" for n in range(size // 10)]}).encode(),
        "weights.safetensors": bytes([number % 251]) * size,
    }
    return {"settings": {"seed": number}}, parts


OLD, NEW = model(1), model(2)


def prepare(scenario, folder):
    """Make the folder that is saved into."""
    shutil.rmtree(folder, ignore_errors=True)
    if scenario == "first":
        return
    folder.mkdir()
    (folder / MINE).write_text("keep me")
    write_folder(folder, *(NEW if scenario == "same" else OLD))


class Fault:
    """Counts the calls that touch the disk, and fails at one of them."""

    def __init__(self, kind, place):
        self.kind, self.place, self.count = kind, place, 0
        for name in CALLS:
            setattr(os, name, self.wrap(name, getattr(os, name)))

    def wrap(self, name, call):
        def faulty(*arguments, **options):
            self.count += 1
            now = self.count == self.place
            full = self.kind == "full" and self.count >= self.place
            if now and self.kind == "kill":
                if name == "write":
                    call(arguments[0], bytes(arguments[1])[: len(arguments[1]) // 2])
                os._exit(9)
            if now and self.kind == "once":
                if name == "close":
                    call(*arguments, **options)
                raise OSError(errno.EIO, "Input/output error")
            creates = name == "open" and len(arguments) > 1 and arguments[1] & os.O_CREAT
            if full and (name in CREATING or creates):
                raise OSError(errno.ENOSPC, "No space left on device")
            return call(*arguments, **options)

        return faulty


def try_to_save(kind, place, folder):
    """Save in a process of its own with a fault; return whether the fault came at all."""
    child = os.fork()
    if not child:
        code = 1
        try:
            fault = Fault(kind, place)
            write_folder(folder, *NEW)
            code = 0 if fault.count < place else 2
        except (OSError, ModelFileError):
            code = 3
        finally:
            os._exit(code)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if code == 1:
        raise SystemExit(f"{kind} at call {place} ended in an error of another kind")
    return code != 0


def check(scenario, kind, place, folder):
    """Check that the old model or the new one is there, whole, and nothing of others is gone."""
    where = f"{scenario}: {kind} at call {place}"
    try:
        manifest, parts = read_folder(folder, NAMES)
        known = (manifest["settings"], parts) in [(m["settings"], p) for m, p in (OLD, NEW)]
        assert known, f"{where}: a mixture of two models"
    except ModelFileError as error:
        if scenario != "first" or "contains no model" not in str(error):
            raise SystemExit(f"{where}: {error}") from error
    if scenario != "first":
        assert (folder / MINE).read_text() == "keep me", f"{where}: a file of the user's is gone"
    if kind == "full":
        strays = [path.name for path in folder.glob(".groundling-*")] if folder.exists() else []
        assert not strays, f"{where}: {strays} are left"
    write_folder(folder, *NEW)
    manifest, parts = read_folder(folder, NAMES)
    assert parts == NEW[1], f"{where}: the next save did not mend it"
    left = sorted(path.name.partition("-")[0] for path in folder.iterdir() if path.name != MINE)
    assert left == ["manifest.json", "tables", "weights"], f"{where}: {left} are left"


def every_call(scenario, folder):
    """Fail at every call, in every way; return how many faults there were."""
    counts = {}
    for kind in ("kill", "once", "full"):
        place = 1
        while True:
            prepare(scenario, folder)
            came = try_to_save(kind, place, folder)
            check(scenario, kind, place, folder)
            if not came:
                break
            place += 1
        counts[kind] = place - 1
    return counts


def every_size(folder):
    """Save onto file systems of every size, a page more each time (needs to be root)."""
    refused = 0
    sizes = range(16, 96, 4)
    for size in sizes:
        folder.mkdir(exist_ok=True)
        if os.system(f"mount -t tmpfs -o size={size}k tmpfs '{folder}' 2>/dev/null"):
            raise SystemExit("cannot mount")
        try:
            model_folder = folder / "model"
            before = None
            for number in range(1, 4):
                chosen = model(number, 9000)
                try:
                    write_folder(model_folder, *chosen)
                    before = chosen
                except OSError as error:
                    if error.errno != errno.ENOSPC:
                        raise
                    refused += 1
                if before is not None:
                    assert read_folder(model_folder, NAMES)[1] == before[1], size
                names = list(model_folder.glob(".groundling-*")) if before else []
                assert not names, f"{names} are left"
        finally:
            os.system(f"umount -l '{folder}'")
    return {"sizes": len(sizes), "refused": refused}


def save_for_ever(folder):
    """Save one model after another until killed; say so after the first."""
    number = 0
    while True:
        write_folder(folder, *model(number, 20_000))
        if not number:
            print("saving", flush=True)
        number += 1


def save_once(folder):
    """Save the new model over the old one, for a tracer to kill."""
    write_folder(folder, *NEW)


if __name__ == "__main__":
    began = time.monotonic()
    chosen, place = sys.argv[1], Path(sys.argv[2])
    if chosen == "sizes":
        print(json.dumps(every_size(place)))
    elif chosen == "endless":
        save_for_ever(place)
    elif chosen == "once":
        save_once(place)
    else:
        print(json.dumps(every_call(chosen, place)))
