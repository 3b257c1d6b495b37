"""Print which sentences are not replied to as expected: `python -m tests.home.own_words`."""

import sys

from groundling.home.model import HomeModel
from tests.home.own_words import replies

found = list(replies(HomeModel.load(sys.argv[1], "en") if len(sys.argv) > 1 else None))
for case, reply, right in found:
    if not right and case.home not in sys.argv[2:]:
        understood = "; ".join(map(str, reply.commands))
        print(f"{case.home}: {case.text!r}: {reply.kind} {reply.confidence:.2f} {understood}")
for home in dict.fromkeys(case.home for case, *_ in found):
    here = [right for case, _, right in found if case.home == home]
    print(f"{home}: {sum(here)} of {len(here)} right")
print(f"{sum(right for *_, right in found)} of {len(found)} right")
