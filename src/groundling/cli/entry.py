"""Entry point of the program `groundling`, which stops promptly after a signal."""

# Import nothing else here: until the handlers are installed, Ctrl-C exits without a message.

from __future__ import annotations

import os
import select
import signal
import sys
import threading
import time

_PATIENCE = 1.0  # seconds for cleanup; the command must end within two seconds
_STUCK = 0.5  # further seconds, after which the guard process ends the command
_LAST = 100  # milliseconds until it is killed
_STOPS = (signal.SIGINT, signal.SIGTERM)
_STOPPED = b"\nStopped. No partial files were left behind.\n"

told = threading.Event()
"""Event that is set once the message about stopping has been printed."""


def run() -> None:
    """Run the command line; after a signal, exit with 128 plus the signal's number."""
    asked: list[int] = []

    def stop(number: int, frame: object) -> None:
        asked.append(number)
        if len(asked) == 1:  # further signals must not interrupt the cleanup
            raise KeyboardInterrupt

    def ignore(error: sys.UnraisableHookArgs) -> None:
        # No traceback for an interrupt lost in a finaliser: the watching thread ends the process.
        if not asked or not issubclass(error.exc_type, KeyboardInterrupt):
            sys.__unraisablehook__(error)

    try:
        sys.unraisablehook = ignore
        for number in _STOPS:
            signal.signal(number, stop)
        if os.name == "posix":
            before = signal.pthread_sigmask(signal.SIG_BLOCK, _STOPS)
            try:  # Python's hooks around a fork must not be interrupted
                _watch()
            finally:
                signal.pthread_sigmask(signal.SIG_SETMASK, before)
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
        # During shutdown, an error in a handler would print a traceback. The default action ends
        # the process without the interpreter, which the guard uses if the shutdown takes long.
        for number in _STOPS:
            signal.signal(number, signal.SIG_DFL)


def _watch() -> None:
    """End the process soon after a signal, even if the main thread is stuck.

    Python handles signals only after compiled code has returned, and loses exceptions in finalisers
    and in some library callbacks. A thread therefore ends the process. If compiled code holds the
    interpreter lock, so that no thread can run, a guard process ends it.
    """
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    reading = _start_guard(reading)
    signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    os.register_at_fork(after_in_child=_let_go)  # a child handles its own signals

    def wait() -> None:
        signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
        while (read := os.read(reading, 1)) and read[0] not in _STOPS:
            pass
        if not read:  # the guard was killed
            return
        time.sleep(_PATIENCE)
        _tell()
        os._exit(128 + read[0])

    threading.Thread(target=wait, name="groundling-signals", daemon=True).start()


def _start_guard(signals: int) -> int:
    """Start a guard, which kills this process if it does not end after a signal.

    The guard reads signal numbers from the pipe `signals`, and writes them to the returned pipe.
    It ends with this process. If the guard cannot be started, `signals` is returned.
    """
    try:
        guarded = os.pidfd_open(os.getpid())
    except (AttributeError, OSError):  # not Linux, or an old kernel
        return signals
    passed, passing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            if os.fork() == 0:  # run the guard as a grandchild, so that nothing here waits for it
                os.setsid()
                for number in _STOPS:
                    signal.signal(number, signal.SIG_IGN)
                kept = sorted((signals, passing, guarded))
                for first, last in zip((-1, *kept), (*kept, 65_536), strict=True):
                    os.closerange(first + 1, last)  # inherited pipes must end with this process
                _guard(signals, passing, guarded)
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    for handle in (signals, passing, guarded):
        os.close(handle)
    return passed


def _guard(signals: int, passing: int, guarded: int) -> None:
    waiting = select.poll()
    for handle in (signals, guarded):
        waiting.register(handle, select.POLLIN)
    left: float | None = None  # milliseconds
    sent: int = signal.SIGKILL
    while ready := {handle for handle, _ in waiting.poll(left)}:
        if guarded in ready:  # the process has ended
            return
        read = os.read(signals, 64)
        if not read:
            return
        os.write(passing, read)
        if {*read} & {*_STOPS}:
            left = 1000 * (_PATIENCE + _STUCK)
            sent = next(each for each in read if each in _STOPS)
            waiting.unregister(signals)
    signal.pidfd_send_signal(guarded, sent)  # SIGTERM is enough if the process is shutting down
    if not waiting.poll(_LAST):
        signal.pidfd_send_signal(guarded, signal.SIGKILL)


def _tell() -> None:
    if not told.is_set():
        told.set()
        os.write(2, _STOPPED)


def _let_go() -> None:
    if threading.current_thread() is threading.main_thread():
        signal.set_wakeup_fd(-1)
