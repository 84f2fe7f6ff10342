"""Damage: one or a few things changed at random, in texts, in lists of lists, in bytes."""

import copy
from random import Random

ODD = [
    None, True, False, 0, 1, -1, 2, 10**6, 10**9, 2**63, -(2**63), 10**30, 0.0, -0.0, 0.5, -2.5, 1e-300, 1e300, 1e308,
    float("nan"), float("inf"), float("-inf"), "", " ", "0", "1", "-1", "nan", "1e999999999", "1/0", "1/3", "0x10", "²",
    "a" * 5000, "\x00", "\x1b[2J", "\u202e", "é", "..", "../../etc/passwd", "/", "~", "@", "@0", "count", "total",
    "sum", "job", "record", "trade", "place", "age", "trade@0", "trade@9", "jobs", "pay", "north", "11", "geometric",
    "epsilon", [], [[]], [None], [0], ["trade"], ["trade", "trade"], {}, {"a": 1}, {"": ""}, [1e308] * 3,
    list(range(50)),
]  # fmt: skip


def places(part, path=()):
    """Every place within lists and tables."""
    inside = part.items() if isinstance(part, dict) else enumerate(part) if isinstance(part, list) else ()
    for step, one in inside:
        yield (*path, step)
        yield from places(one, (*path, step))


def at(whole, path):
    for step in path:
        whole = whole[step]
    return whole


def damaged(whole, chosen: Random, odd=ODD):
    """A copy with one to three places left out, exchanged, doubled, moved or put in place of others."""
    made = copy.deepcopy(whole)
    for _ in range(chosen.choice([1, 1, 1, 2, 3])):
        found = list(places(made))
        if not found:
            return made
        path = chosen.choice(found)
        part, step = at(made, path[:-1]), path[-1]
        match chosen.randrange(6):
            case 0 if isinstance(part, dict):
                del part[step]
            case 1:
                part[step] = copy.deepcopy(at(made, chosen.choice(found)))
            case 2 if isinstance(part, list):
                part.insert(step, copy.deepcopy(part[step]))
            case 3 if isinstance(part, dict):
                part[chosen.choice([f"{step}x", "kind", "name", "base", ""])] = part[step]
            case 4 if isinstance(part[step], (int, float)) and not isinstance(part[step], bool):
                part[step] = part[step] * chosen.choice([-1, 0, 0.999, 1.5, 1e12, 1e-12])
            case _:
                part[step] = copy.deepcopy(chosen.choice(odd))
    return made


def damaged_bytes(content: bytes, chosen: Random) -> bytes:
    """A copy with bits turned over, bytes left out, doubled or put in, or its end cut off."""
    made = bytearray(content)
    for _ in range(chosen.choice([1, 1, 2, 8])):
        place = chosen.randrange(max(len(made), 1))
        match chosen.randrange(6):
            case 0 | 1 if made:
                made[place] ^= 1 << chosen.randrange(8)
            case 2:
                made[place : place + chosen.randrange(1, 64)] = b""
            case 3:
                made[place:place] = chosen.randbytes(chosen.randrange(1, 16))
            case 4:
                made[place : place + 4] = chosen.choice([b"\xff\xff\xff\x7f", b"\x00\x00\x00\x00", b"\xff\xff\xff\xff"])
            case _:
                del made[place:]
    return bytes(made)
