"""Dialogue sessions of the service, each with an agent and a timeout."""

from __future__ import annotations

import secrets
import threading
import time
from collections import OrderedDict
from collections.abc import Callable

from groundling.agent import Agent
from groundling.limits import SESSION_MINUTES, SESSION_TURNS, SESSIONS
from groundling.studio.problems import BusyError


class Sessions:
    """Agents by session id; ids are random, so that they cannot be guessed.

    Parameters
    ----------
    clock
        Function that returns the time in seconds.

    Examples
    --------
    >>> from groundling import Follower
    >>> from groundling.examples import Lamp, lamp_demonstrations
    >>> follower, now = Follower(parser="chain").fit(lamp_demonstrations()), [0.0]
    >>> sessions = Sessions(clock=lambda: now[0])
    >>> name = sessions.begin(lambda: Agent(follower, Lamp(), "off"))
    >>> sessions.get(name).say("light the lamp").kind
    'act'
    >>> now[0] = 3600.0
    >>> sessions.get(name)
    Traceback (most recent call last):
        ...
    groundling.studio.problems.BusyError: The session does not exist or has expired. Omit
    `session` to start a new one.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._open: OrderedDict[str, tuple[Agent, float]] = (
            OrderedDict()
        )  # agents with the time of last use

    def begin(self, make: Callable[[], Agent]) -> str:
        """Start a session; return its id."""
        with self._lock:
            self._expire()
            if len(self._open) >= SESSIONS.most:
                raise BusyError(
                    429,
                    f"The server has reached its limit of {SESSIONS.most:,} sessions. Try again "
                    f"later, or set {SESSIONS.variable} to raise the limit.",
                )
            name = secrets.token_hex(16)
            self._open[name] = (make(), self._clock())
            return name

    def get(self, name: str) -> Agent:
        """Return the agent of a session, and restart the session's timeout."""
        with self._lock:
            self._expire()
            if name not in self._open:
                raise BusyError(
                    404,
                    "The session does not exist or has expired. Omit `session` to start a new one.",
                )
            agent, _ = self._open[name]
            if len(agent.turns) >= SESSION_TURNS.most:
                raise BusyError(
                    409,
                    f"The session has reached its limit of {SESSION_TURNS.most:,} turns. Start a "
                    f"new session, or set {SESSION_TURNS.variable} to raise the limit.",
                )
            self._open[name] = (agent, self._clock())
            self._open.move_to_end(name)
            return agent

    def end(self, name: str) -> None:
        """End a session, if it exists."""
        with self._lock:
            self._open.pop(name, None)

    def __len__(self) -> int:
        return len(self._open)

    def _expire(self) -> None:
        oldest = self._clock() - 60.0 * SESSION_MINUTES.most
        while self._open and next(iter(self._open.values()))[1] < oldest:
            self._open.popitem(last=False)
