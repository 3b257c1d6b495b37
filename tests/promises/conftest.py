"""Followers that several promises are tested with; trained once."""

import time
import warnings

import pytest

from groundling.errors import ConvergenceWarning
from tests.promises.making import KINDS, demonstrations, make_follower
from tests.promises.soaking import note_session

_BEGAN = time.monotonic()


def pytest_sessionfinish(session):
    note_session(session, _BEGAN)


@pytest.fixture(autouse=True)
def _short_training():
    # Thirty iterations are enough for promises that hold whatever was learnt.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        yield


@pytest.fixture(scope="session")
def followers():
    """A trained follower of every kind; not to be changed."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return {kind: make_follower(kind).fit(demonstrations()) for kind in KINDS}


@pytest.fixture(params=KINDS)
def follower(request, followers):
    """Each of them."""
    return followers[request.param]
