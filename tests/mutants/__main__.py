"""Mutants of the code that carries guarantees and stated errors: `python -m tests.mutants [--only PART] [--count N]`.

A copy of the project is mutated in build/mutants, one mutant at a time, and the tests that run the changed line are
run, quickest first, until one fails or they took SECONDS. What was found is kept there, so that a run which was
stopped goes on. It ends with 1 where a mutant survives that accepted.toml does not name with its reason.
"""

import argparse
import json
import shutil
import subprocess
import sys
import tomllib
from collections import Counter
from hashlib import sha256
from itertools import accumulate
from pathlib import Path

from tests.mutants.chosen import all_mutants, chosen, targets
from tests.mutants.operators import Mutant
from tests.mutants.tested import Tested, tested
from tests.mutants.trial import HUNG, KILLED, SURVIVED, failing, preload, tried

ROOT = Path(__file__).parents[2]
BUILD = ROOT / "build" / "mutants"
FIRST, FILES, SHARE = 2, 8, 0.3
"""How many files of tests are run first, how many at all, and the share of the seconds that the first have."""
LAST = 8
"""How many times the seconds all tests of a line have, where it would survive and no reason is known."""
ACCEPTED = Path(__file__).with_name("accepted.toml")


def copied(root: Path, copy: Path) -> None:
    """The project as it stands, in a folder of its own; files that did not change keep their times."""
    words = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    listed = subprocess.run(words, cwd=root, check=True, capture_output=True, text=True).stdout.split("\0")
    names = {name for name in listed if name and (root / name).is_file()}
    for name in names:
        place = copy / name
        if not place.exists() or place.read_bytes() != (root / name).read_bytes():
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(root / name, place)
    for place in [one for one in copy.rglob("*.py") if one.relative_to(copy).as_posix() not in names]:
        place.unlink()


def within(tests: list[str], map_: Tested, seconds: float) -> list[str]:
    """The quickest tests that together take no longer; one at least."""
    so_far = list(accumulate(map_.seconds[one] for one in tests))
    return [one for place, one in enumerate(tests) if place == 0 or so_far[place] <= seconds]


def near(tests: list[str], module: str, count: int) -> list[str]:
    """Those of a few files, soon loaded: of the name of the module, of its folder, then those with most of them."""
    files, (folder, *_, name) = Counter(test.partition("::")[0] for test in tests), module.split("/")
    order = sorted(files, key=lambda file: (name not in file, f"/{folder}/" not in file, -files[file], file))
    first = set(order[:count])
    return [test for test in tests if test.partition("::")[0] in first]


def accepted() -> dict[str, str]:
    """The survivors that weaken nothing, each with its reason."""
    survivors = tomllib.loads(ACCEPTED.read_text("utf-8")).get("survivor", [])
    return {
        f"{survivor['shape']} {survivor['kind']} {survivor['number']}": survivor["reason"] for survivor in survivors
    }


def survivor_text(mutant: Mutant, reason: str) -> str:
    """The lines of accepted.toml for a survivor; the last two are for its reader."""
    lines = [f'shape = "{mutant.shape}"', f'kind = "{mutant.kind}"', f"number = {mutant.number + 1}"]
    lines += [f"reason = {json.dumps(reason, ensure_ascii=False)}", f"# {mutant.place}", f"# {mutant.change}"]
    return "\n".join(["[[survivor]]", *lines, ""])


class Trials:
    """What came of each mutant, kept as it is found.

    A mutant that was killed stays so while its module and the test that killed it stand; one that survived is tried
    again once any of its tests has changed.
    """

    def __init__(self, copy: Path, modules: dict[str, Path], map_: Tested, seconds: float) -> None:
        self.copy, self.modules, self.map, self.seconds = copy, modules, map_, seconds
        self.accepted = accepted()
        self.kept = BUILD / "outcomes.json"
        self.known = json.loads(self.kept.read_text("utf-8")) if self.kept.exists() else {}

    def all(self, sample: list[Mutant]) -> dict[str, dict[str, str]]:
        for place, one in enumerate(sample, 1):
            if not self._stands(one):
                found = self.known[one.name] = self._tried(one)
                self.kept.write_text(json.dumps(self.known, indent=1), "utf-8")
                print(f"{place}/{len(sample)} {found['outcome']}  {one.name}  {found['killer']}", flush=True)
        self._control(sample)
        return {one.name: self.known[one.name] for one in sample}

    def _control(self, sample: list[Mutant]) -> None:
        """What kills must pass where nothing is changed."""
        killed = [one for one in sample if self.known[one.name]["outcome"] == KILLED]
        tests = sorted({self.known[one.name]["killer"] for one in killed})
        if broken := failing(self.copy, tests, sum(self.map.seconds[each] for each in tests)):
            raise RuntimeError(f"These tests kill mutants and fail without them as well: {', '.join(broken)}")

    def _tests(self, one: Mutant) -> list[str]:
        """Those near it; where no reason is known why it may survive, then others that run its line."""
        tests = self.map.of(one.module, one.line, self.modules[one.module])
        found = within(near(tests, one.module, FILES), self.map, self.seconds)
        wide = [] if one.key in self.accepted else within(tests, self.map, LAST * self.seconds)
        return [*found, *(test for test in wide if test not in found)]

    def _stamp(self, one: Mutant, tests: list[str]) -> str:
        files = sorted({test.partition("::")[0] for test in tests})
        texts = [self.modules[one.module].read_bytes(), *((self.copy / file).read_bytes() for file in files)]
        return sha256(b"".join(texts) + "".join(tests).encode()).hexdigest()

    def _stands(self, one: Mutant) -> bool:
        before = self.known.get(one.name)
        if before is None:
            return False
        if before["outcome"] == SURVIVED:
            return before["stamp"] == self._stamp(one, self._tests(one))
        return before["killer"] in self.map.seconds and before["stamp"] == self._stamp(one, [])

    def _tried(self, one: Mutant) -> dict[str, str]:
        tests, path = self._tests(one), self.modules[one.module]
        first = within(near(tests, one.module, FIRST), self.map, SHARE * self.seconds)
        nearby = within(near(tests, one.module, FILES), self.map, self.seconds)
        rest = [test for test in nearby if test not in first]
        for some in (first, rest, [test for test in tests if test not in {*first, *rest}]):
            took = sum(self.map.seconds[each] for each in some)
            outcome, killer = tried(one, self.copy, path, some, took) if some else (SURVIVED, "")
            if outcome != SURVIVED:
                return {"outcome": outcome, "killer": killer or some[0], "stamp": self._stamp(one, [])}
        return {"outcome": SURVIVED, "killer": "", "stamp": self._stamp(one, tests)}


def table(sample: list[Mutant], found: dict[str, dict[str, str]], reasons: dict[str, str]) -> str:
    """Killed, accepted and new by package, as docs/assurance.md shows it."""
    counts: dict[str, Counter[str]] = {}
    for one in sample:
        outcome = found[one.name]["outcome"]
        said = outcome if outcome != SURVIVED else "accepted" if one.key in reasons else "new"
        counts.setdefault(f"`{one.package}`", Counter())[said] += 1
    counts["all"] = sum(counts.values(), Counter())
    columns = (KILLED, HUNG, "accepted", "new")
    lines = [
        f"| {name} | {of.total()} | {' | '.join(str(of[each]) for each in columns)} |" for name, of in counts.items()
    ]
    return "\n".join(
        ["| package | mutants | killed | hung | accepted | new survivors |", "|---|---|---|---|---|---|", *lines]
    )


def main(only: str, count: int, seconds: float) -> int:
    copy = BUILD / "copy"
    copied(ROOT, copy)
    modules = targets(copy / "src" / "sfumato")
    found = all_mutants(copy / "src" / "sfumato")
    map_ = tested(copy, BUILD, modules)
    covered = {one for name, of in found.items() for one in of if map_.of(name, one.line, modules[name])}
    sample = [one for one in chosen(found, modules, count, covered.__contains__) if only in one.place]
    every, run = sum(map(len, found.values())), len(covered)
    print(f"{every:,} mutants of {len(found)} modules, {run:,} on lines that tests run; {len(sample):,} are tried")
    preload()
    outcomes, reasons = Trials(copy, modules, map_, seconds).all(sample), accepted()
    survivors = [one for one in sample if outcomes[one.name]["outcome"] == SURVIVED]
    new = [survivor_text(one, "") for one in survivors if one.key not in reasons]
    gone = sorted(set(reasons) - {one.key for of in found.values() for one in of})
    print(table(sample, outcomes, reasons))
    print(*(f"survives, and accepted.toml does not say why it may:\n{text}" for text in new), sep="\n")
    print(*(f"is accepted and no mutant any more, delete it: {key}" for key in gone), sep="\n")
    return 1 if new or gone else 0


if __name__ == "__main__":
    reader = argparse.ArgumentParser(prog="python -m tests.mutants")
    reader.add_argument("--only", default="", help="mutants whose name has this in it, such as plan/price")
    reader.add_argument("--count", type=int, default=320, help="how many are tried, about")
    reader.add_argument("--seconds", type=float, default=5, help="how long the tests of one may take, as measured")
    asked = reader.parse_args()
    sys.exit(main(asked.only, asked.count, asked.seconds))
