"""The start of the command `groundling`, before the package is imported.

Importing the package takes a moment, in which Python would answer Ctrl-C with a traceback. Until
`groundling.cli.entry` has installed its own handlers, Ctrl-C ends the command silently.
"""

from __future__ import annotations

import signal

__all__ = ["run"]


def run() -> None:
    """Run the command line."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    from groundling.cli.entry import run as begin

    begin()
