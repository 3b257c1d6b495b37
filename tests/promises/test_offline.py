"""Nothing is fetched: with sockets closed, everything works as before."""

import os
import subprocess
import sys

SCRIPT = """
import socket, warnings
warnings.simplefilter("ignore")
def closed(*arguments, **options):
    raise OSError("sockets are closed")
for name in ("connect", "connect_ex", "bind", "sendto"):
    setattr(socket.socket, name, closed)
for name in ("create_connection", "getaddrinfo", "gethostbyname"):
    setattr(socket, name, closed)
from tests.promises.making import demonstrations, make_follower, requests
follower = make_follower("plans", parser="default").fit(demonstrations())
plan = follower.follow(*requests()[0])
assert plan.actions and str(plan.explain())
print("done")
"""


def test_offline_learns_follows_and_explains_with_sockets_closed():
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=False, timeout=600,
        env={**os.environ, "GROUNDLING_CACHE": ""},
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (0, "done\n"), done.stderr
