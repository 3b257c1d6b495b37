"""Where the command `groundling` begins, before the package is imported.

Importing takes a moment, in which Python would answer Ctrl-C with a traceback. Until
`groundling.cli.entry` has handlers of its own, Ctrl-C ends the command without a word.
"""

from __future__ import annotations

import signal

__all__ = ["run"]


def run() -> None:
    """Run the command line."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    from groundling.cli.entry import run as begin

    begin()
