"""Ten thousand damaged plans, ten thousand damaged releases, a thousand flips: `python -m tests.fuzz [COUNT [KIND]]`.

`python -m tests.fuzz one KIND NUMBER` tries one case by itself.
Prints the table that stands in docs/assurance.md, and every fault; ends with 1 where there is one.
"""

import sys
import time

from tests.fuzz.of_plans import priced_and_run
from tests.fuzz.of_releases import flipped, sealed
from tests.fuzz.trials import ANSWERED, FAULT, REFUSED, apart, work

KINDS = {
    "plans": (priced_and_run, 1, "random plans through `price` and `run`"),
    "releases": (sealed, 1, "releases damaged and sealed again, through `verify`, `sf.open` and pages"),
    "flips": (flipped, 10, "bit flips through `verify` and `sf.open`"),
}


def main(count: int, kinds: list[str]) -> int:
    found = []
    print(f"| what | cases | {ANSWERED} | {REFUSED} | faults | minutes |\n|---|---|---|---|---|---|")  # noqa: T201
    for kind, (_, part, words) in ((kind, KINDS[kind]) for kind in kinds or KINDS):
        begun = time.perf_counter()
        outcomes, faults = apart(kind, count // part)
        told = [outcomes.total(), *(outcomes[one] for one in (ANSWERED, REFUSED, FAULT))]
        minutes = (time.perf_counter() - begun) / 60
        print(f"| {words} | {' | '.join(f'{one:,}' for one in told)} | {minutes:.1f} |", flush=True)  # noqa: T201
        found += [f"{kind}, {one}" for one in faults]
    print(*found, sep="\n")  # noqa: T201
    return min(len(found), 1)


if __name__ == "__main__":
    if sys.argv[1:2] == ["one"]:
        KINDS[sys.argv[2]][0](int(sys.argv[3]))
    elif sys.argv[1:2] == ["worker"]:
        work(KINDS[sys.argv[2]][0], int(sys.argv[3]), int(sys.argv[4]))
    else:
        sys.exit(main(int(sys.argv[1]) if sys.argv[1:] else 10_000, sys.argv[2:]))
