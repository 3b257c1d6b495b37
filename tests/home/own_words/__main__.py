"""Print which sentences are not replied to as expected: `python -m tests.home.own_words`."""

import sys

from groundling.home.model import HomeModel
from tests.home.own_words import replies

found = list(replies(HomeModel.load(sys.argv[1], "en") if len(sys.argv) > 1 else None))
for case, reply, right in found:
    if not right:
        understood = "; ".join(map(str, reply.commands))
        print(f"{case.home}: {case.text!r}: {reply.kind} {reply.confidence:.2f} {understood}")
print(f"{sum(right for *_, right in found)} of {len(found)} right")
