"""Which mutants are tried: a sample of those on lines that tests run, the same for whoever draws it."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from hashlib import sha256
from itertools import chain, islice, zip_longest
from pathlib import Path

from tests.mutants.operators import Mutant, compiles, mutants

TARGETS = (
    "privacy", "mechanisms", "draws", "plan/price", "plan/sampling", "statistics",
    "confidential/gate", "confidential/account", "confidential/tabulate", "confidential/engines", "confidential/sealed",
    "confidential/publication", "confidential/options", "confidential/chain", "confidential/audit",
    "confidential/suppress", "suppression",
    "calibrate", "release/uncertainties", "release/error_law", "release/summed_draws", "query/ranks",
    "query/comparison", "query/sampling", "schema/replication",
)  # fmt: skip
"""The code that carries a guarantee or a stated error: modules of `sfumato` by the beginnings of their names."""
SEED, AT_LEAST = "2026", 2


def targets(source: Path, only: str = "") -> dict[str, Path]:
    """The modules that mutants are made of, by their names."""
    named = {path.relative_to(source).with_suffix("").as_posix(): path for path in sorted(source.rglob("*.py"))}
    kept = {name: path for name, path in named.items() if name.startswith(TARGETS)}
    return {name: path for name, path in kept.items() if only in name and not name.endswith("__init__")}


def chosen(
    found: Mapping[str, list[Mutant]], sources: Mapping[str, Path], count: int, covered: Callable[[Mutant], bool]
) -> list[Mutant]:
    """A sample stratified by module, as the square root of what each has, and by kind within a module.

    Each is ranked by a hash of its key, so that a change of one function moves the choice of little else.
    """

    def ranked(name: str) -> Iterator[Mutant]:
        source = sources[name].read_bytes()
        return (one for one in _by_turns(found[name]) if covered(one) and compiles(one.of(source)))

    weights = {name: len(of) ** 0.5 for name, of in found.items() if of}
    shares = {name: max(AT_LEAST, round(count * one / sum(weights.values()))) for name, one in weights.items()}
    return [one for name, share in shares.items() for one in islice(ranked(name), share)]


def _by_turns(found: list[Mutant]) -> list[Mutant]:
    kinds: dict[str, list[Mutant]] = defaultdict(list)
    for one in sorted(found, key=_rank):
        kinds[one.kind].append(one)
    turns = zip_longest(*sorted(kinds.values(), key=lambda of: _rank(of[0])))
    return [one for one in chain.from_iterable(turns) if one is not None]


def _rank(mutant: Mutant) -> str:
    return sha256(f"{SEED} {mutant.key}".encode()).hexdigest()


def all_mutants(source: Path, only: str = "") -> dict[str, list[Mutant]]:
    """Every mutant of every target."""
    return {name: mutants(path.read_text("utf-8"), name) for name, path in targets(source, only).items()}
