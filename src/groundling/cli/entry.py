"""Entry point of the command line; it exits promptly on Ctrl-C and SIGTERM."""

# Import nothing else here: before the handlers are installed, Ctrl-C exits without a message.

from __future__ import annotations

import os
import signal
import sys
import threading
import time

_PATIENCE = 1.0  # seconds for cleanup; the command must end within two
_STOPPED = b"\nStopped. No partial files were left behind.\n"

told = threading.Event()
"""Set once the user has been told that the command is stopping."""


def run() -> None:
    """Run the command line; after a signal the exit code is 128 plus its number."""
    asked: list[int] = []

    def stop(number: int, frame: object) -> None:
        asked.append(number)
        if len(asked) == 1:  # further signals must not interrupt the cleanup
            raise KeyboardInterrupt

    try:
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, stop)
        if os.name == "posix":
            _watch()
        from groundling.cli.main import app

        app()
    except SystemExit as ended:
        if asked and ended.code:
            sys.exit(128 + asked[0])
        raise
    except BaseException as error:
        # Libraries may turn the interrupt into another error.
        if not asked and not isinstance(error, KeyboardInterrupt):
            raise
        _tell()
        sys.exit(128 + asked[0] if asked else 130)
    finally:
        # During shutdown, an error in a handler would print a traceback.
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_DFL if not asked else signal.SIG_IGN)


def _watch() -> None:
    """End the process soon after a signal, even if the main thread is stuck.

    Python handles signals only when it returns from compiled code, and exceptions are lost in some
    places (finalisers, callbacks of libraries).
    """
    reading, writing = os.pipe()
    for handle in (reading, writing):
        os.set_blocking(handle, handle == reading)
    signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    os.register_at_fork(after_in_child=_let_go)  # a child handles its own signals

    def wait() -> None:
        signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
        while (number := os.read(reading, 1)[0]) not in (signal.SIGINT, signal.SIGTERM):
            pass
        time.sleep(_PATIENCE)
        _tell()
        os._exit(128 + number)

    threading.Thread(target=wait, name="groundling-signals", daemon=True).start()


def _tell() -> None:
    if not told.is_set():
        told.set()
        os.write(2, _STOPPED)


def _let_go() -> None:
    if threading.current_thread() is threading.main_thread():
        signal.set_wakeup_fd(-1)
