"""Files that somebody has changed, by accident or to hurt."""

import copy
import random

NASTY = (
    None, True, False, 0, -1, 1, 2**31, 2**63, -(2**63), 10**30, 10**9, 0.0, -0.5, 1e-320, 1e308,
    float("inf"), float("-inf"), float("nan"), "", "x", "x" * 5000, "(" * 5000, "(a+)+$", "\0",
    "\ud800", "../../etc/passwd", "/etc/passwd", "spacy:json", "conllu:/etc/passwd", "own:eval",
    "default", "chain", [], {}, [[]], [None], ["x", "x"], {"x": 1}, [1e308] * 5,
)  # fmt: skip
SNIPPETS = (
    b"", b"\0", b"\xff\xfe", b"\xef\xbb\xbf", b"\r", b"\n", b"<", b">", b"&amp;", b"&#0;",
    b"<a>" * 50, b"<![CDATA[", b"<!DOCTYPE a [<!ENTITY b 'c'>]>", b"-1", b"999999999999999999999",
    b"1e309",
    b"nan", b'"', b"'", b"(", b")", b"\t", b",", b":", b"\xe2\x80\xa8", b"\xed\xa0\x80",
    b"x" * 3000,
)  # fmt: skip


def changed_bytes(data, chance):
    """Return data with a few bytes flipped, dropped, repeated, or put in."""
    data = bytearray(data)
    for _ in range(chance.choice((1, 1, 1, 2, 5))):
        place = chance.randrange(len(data) + 1)
        kind = chance.randrange(5)
        if kind == 0 and place < len(data):
            data[place] ^= 1 << chance.randrange(8)
        elif kind == 1:
            data[place:place] = chance.choice(SNIPPETS)
        elif kind == 2:
            del data[place : place + chance.choice((1, 3, 20, len(data)))]
        elif kind == 3:
            end = place + chance.choice((1, 10, 200))
            data[place:place] = bytes(data[place:end]) * chance.choice((1, 2, 50))
        elif place < len(data):
            data[place] = chance.randrange(256)
    return bytes(data)


def places(value, way=()):
    """Yield the way to every entry of nested tables and lists."""
    entries = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    for key, inside in entries:
        yield (*way, key)
        yield from places(inside, (*way, key))


def changed_values(value, chance):
    """Return a copy of nested tables and lists with a few entries replaced, added or gone."""
    value = copy.deepcopy(value)
    for _ in range(chance.choice((1, 1, 1, 2, 4))):
        ways = list(places(value))
        if not ways:
            return value
        *way, last = chance.choice(ways)
        holder = value
        for key in way:
            holder = holder[key]
        kind = chance.randrange(6)
        if kind == 0:
            del holder[last]
        elif kind == 1 and isinstance(holder, dict):
            holder[chance.choice(("x", "hack", "__class__", "", "seed"))] = holder[last]
        elif kind == 2 and isinstance(holder[last], (int, float)):
            holder[last] = holder[last] * chance.choice((-1, 0, 10, 1e9, 1e300))
        elif kind == 3 and isinstance(holder, list):
            holder += holder[-3:] * chance.choice((1, 100))
        else:
            holder[last] = copy.deepcopy(chance.choice(NASTY))
    return value


def chances(seed):
    """Yield sources of chance, each of which can be made again from its number."""
    number = 0
    while True:
        yield number, random.Random(f"{seed}-{number}")
        number += 1
