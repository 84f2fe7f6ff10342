"""Page: docs/benchmarks.md, whose numbers come from a record and whose sentences stay as they were written.

The page has parts between `<!-- measured: NAME -->` and `<!-- end: NAME -->`; those are made anew, the rest is kept.
So is what stands there of a benchmark that the record lacks, such as one that was measured on another machine.
What each benchmark does and how it calls its peer is told by the docstrings of its module, and of the peer's script.
"""

import ast
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from pathlib import Path
from types import ModuleType

from bench import picture
from bench.line import Line
from bench.record import Record, Taken
from bench.words import goal, number, ratio

ROOT = Path(__file__).parent.parent
PAGE, PLOT = ROOT / "docs" / "benchmarks.md", ROOT / "docs" / "benchmarks" / "cost-against-size.svg"
PEERS = Path(__file__).parent / "peers"
TABLE = "|---|"
"""What the table of a benchmark that was measured has in it."""
HEAD = ("what", "ours", "beside", "theirs", "ratio", "threads", "CPU", "CPU, theirs", "agree", "goal")


def write(record: Record, modules: Mapping[str, ModuleType]) -> None:
    """The page and its plot, made anew from the record."""
    told = {name: (module.__doc__ or "").strip() for name, module in modules.items()}
    PAGE.write_text(filled(PAGE.read_text(encoding="utf-8"), record, told), encoding="utf-8")
    picture.write(record, PLOT)


def filled(page: str, record: Record, told: Mapping[str, str]) -> str:
    """The page with its measured parts made anew."""
    kept = {name: section for name, section in _sections(page).items() if name in told.keys() - record.taken.keys()}
    measured = {name for name in kept if TABLE in kept[name]}
    parts: dict[str, Callable[[str], str]] = {
        "machine": lambda old: old if measured else _machine(record),
        "goals": lambda old: _goals(record, old, measured),
        "peers": lambda _: _peers(),
        "tables": lambda _: "\n\n".join(
            kept.get(name) or _benchmark(name, one, record.taken.get(name)) for name, one in told.items()
        ),
    }
    for name, made in parts.items():
        start, end = f"<!-- measured: {name} -->", f"<!-- end: {name} -->"
        if page.count(start) != 1 or page.count(end) != 1:
            raise SystemExit(
                f"The page needs one '{start}' and one '{end}' after it; put both where {name} should stand."
            )
        before, _, rest = page.partition(start)
        old, _, rest = rest.partition(end)
        page = f"{before}{start}\n{made(old.strip())}\n{end}{rest}"
    return page


def _sections(page: str) -> dict[str, str]:
    """What the page says of every benchmark."""
    tables = page.partition("<!-- measured: tables -->")[2].partition("<!-- end: tables -->")[0]
    return {one.split(maxsplit=2)[1]: one.strip() for one in re.split(r"^(?=### )", tables, flags=re.MULTILINE)[1:]}


# Its parts


def _machine(record: Record) -> str:
    one, taken = record.machine, record.taken.values()
    when = sorted(part.when for part in taken)
    loads = [part.load[0] for part in taken]
    measured = f"{when[0]} to {when[-1]}" if when else "not yet"
    loaded = f"; the load average before each was {min(loads):.1f} to {max(loads):.1f}" if loads else ""
    versions = ", ".join(f"{name} {version}" for name, version in record.versions.items())
    return (
        f"Measured {measured} on {one['processor']}, {one['cores']} cores, {one['memory']}, {one['system']}, "
        f"Python {one['python']}{loaded}.\n\nVersions: {versions}."
    )


def _goals(record: Record, old: str, kept: Collection[str]) -> str:
    """The goals of what was measured, among those that stand there of benchmarks that are kept."""
    stood = [re.split(r"(?<!\\)\|", row)[1:-1] for row in old.splitlines()[2:]]
    rows = [tuple(map(str.strip, row)) for row in stood if row[-1].strip()[1:].partition("]")[0] in kept]
    rows += [
        (line.what, line.peer, ratio(line), *goal(line).split(": "), f"[{name}](#{name})")
        for name, taken in record.taken.items()
        for line in taken.lines
        if line.goal
    ]
    return table(("what", "beside", "measured", "goal", "this run", "in"), sorted(rows, key=lambda row: row[-1]))


def _peers() -> str:
    """Each peer's script, what it says of itself, and the versions its environment is made of."""
    rows = []
    for path in sorted(PEERS.glob("*_path.py")):
        pins = path.with_name(f"{path.stem.removesuffix('_path')}.txt")
        if pins.exists():
            told = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
            names = " ".join(pins.read_text(encoding="utf-8").split())
            rows.append((f"[{path.name}](../bench/peers/{path.name})", told, f"`{names}`"))
    return table(("script", "how it is called", "environment"), rows)


def _benchmark(name: str, told: str, taken: Taken | None) -> str:
    """One benchmark: its title, what it does, its table, and what is to be said of single lines."""
    title, _, rest = told.partition("\n\n")
    parts = [f"### {name}", f"**{_one_line(title)}**", *map(_one_line, filter(None, rest.split("\n\n")))]
    if taken is None:
        return "\n\n".join([*parts, "Not measured yet."])
    parts.append(table(HEAD, [_row(line) for line in taken.lines]))
    parts.append("\n".join(_notes(taken.lines)))
    if taken.failed:
        parts.append(f"It broke off: {_cell(taken.failed)}")
    return "\n\n".join(part for part in parts if part)


def _row(line: Line) -> Sequence[str]:
    unit = f" {line.unit}"
    theirs = number(line.theirs) + (unit if line.theirs is not None else "")
    costs = (str(line.threads), number(line.cpu), number(line.cpu_theirs), number(line.agree))
    return (line.what, number(line.ours) + unit, number(line.peer), theirs, ratio(line), *costs, goal(line))


def _notes(lines: Sequence[Line]) -> Iterator[str]:
    """What is said of lines, once where several say the same."""
    for note in dict.fromkeys(line.note for line in lines if line.note):
        about = dict.fromkeys(_about(line) for line in lines if line.note == note)
        yield f"- *{_cell('; '.join(about))}*: {_cell(note)}"


def _about(line: Line) -> str:
    return f"{line.what}, {line.peer}" if line.peer else line.what


# Markdown


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table of plain cells; where there are no rows it says so.

    >>> print(table(("what", "ours"), [("a | b", "1")]))
    | what | ours |
    |---|---|
    | a \\| b | 1 |
    """
    if not rows:
        return "Nothing measured yet."
    laid = [head, ["---"] * len(head), *rows]
    lines = [f"| {' | '.join(map(_cell, row))} |" for row in laid]
    lines[1] = f"|{'---|' * len(head)}"
    return "\n".join(lines)


def _cell(words: str) -> str:
    return re.sub(r"(?<!\\)\|", r"\|", _one_line(words))


def _one_line(words: str) -> str:
    return " ".join(words.split())
