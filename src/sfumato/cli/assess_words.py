"""How an assessment is told on a terminal: what releases lose, how far they are off, and what an attacker gets."""

from typing import Any

from sfumato.cli.output import columns

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
READ = """The 90% margins, about nine in ten of which should hold, are held against two numbers: what the noise was
added to, after clip and at_most, and the data as they are. Of percentiles the first is what exact counts by bands would
give, and the second, which their intervals are of, the percentile of the rows themselves. Of few cells it is said how
many: 3 of 5 says little. A dash where at_most left out rows by a draw that nobody knows again."""


def assessed(numbers: dict[str, Any]) -> list[str]:
    """What is said of one release, a paragraph each."""
    from sfumato.confidential.assessment.honesty import broken, missed

    said = [summary(numbers), *([means(numbers)] if numbers["means"] else []), READ]
    said += [f"THE STATED MARGINS DO NOT HOLD. {one}; do not publish before you know why." for one in broken(numbers)]
    said += [f"THE STATED MARGINS DO NOT HOLD THE DATA AS THEY ARE. {one}." for one in missed(numbers)]
    said += [numbers["at_most"]["words"]] if numbers["at_most"] and numbers["at_most"]["words"] else []
    said += dict.fromkeys(one["bounds"]["fit"] for one in numbers["products"] if one["bounds"]["fit"])
    return [*said, swept(numbers["sweep"])] if numbers["sweep"] else said


def beside(numbers: dict[str, Any]) -> list[str]:
    """What is said of several releases side by side."""
    return [releases(numbers), compared(numbers), attacks(numbers)]


def releases(numbers: dict[str, Any]) -> str:
    rows = [
        [letter, one["title"], "; ".join(one["mechanisms"])]
        for letter, one in zip(LETTERS, numbers["releases"], strict=False)
    ]
    return columns(["release", "title", "how it was protected"], rows)


def compared(numbers: dict[str, Any]) -> str:
    """For each statistic and size of cells what every release loses, and how far it is off."""
    from sfumato.confidential.assessment.layout import count

    letters = LETTERS[: len(numbers["releases"])]
    heads = [f"{one}: {what}" for one in letters for what in ("lost", "within 10%", "median error")]
    rows = []
    for statistic in numbers["statistics"]:
        for row in statistic["sizes"]:
            cells = [share for one in row["releases"] for share in _shares(one)]
            rows.append([statistic["title"], row["size"], count(row["cells"]), *cells])
    return columns(["statistic", f"{numbers['unit']}s in a cell", "cells", *heads], rows, numbers=1 + len(heads))


def _shares(told: dict[str, Any] | None) -> list[str]:
    """What of some cells a release loses and has near the truth, and its median error; dashes where it answers none."""
    from sfumato.confidential.assessment.layout import percent

    found = (told["lost"] / told["cells"], told["near"] / told["cells"], told["median"]) if told else (None,) * 3
    return [percent(one) for one in found]


def attacks(numbers: dict[str, Any]) -> str:
    """What an attacker gets out of each release."""
    from sfumato.confidential.assessment.layout import percent

    unit = numbers["unit"]
    said: list[tuple[str, Any]] = [
        ("power of the best test at 5%", lambda one: percent(one["power"]) if one["promise"] else "no bound"),
        (f"cells of one {unit} with a number", lambda one: _of(one["single"], "published")),
        ("  within 1% of what it has", lambda one: _of(one["single"], "known")),
        ("  within 10%", lambda one: _of(one["single"], "near")),
        ("  a ratio of two of its numbers within 1%", lambda one: _of(one["ratios"], "known")),
        ("withheld cells that can be worked out", lambda one: _of(one["withheld"], "exact")),
        ("  or to within 10%", lambda one: _near(one["withheld"], unit)),
    ]
    rows = [[words, *(told(one) for one in numbers["attacks"])] for words, told in said]
    return columns(
        ["what an attacker gets", *LETTERS[: len(numbers["releases"])]], rows, numbers=len(numbers["releases"])
    )


def _of(told: dict[str, int] | None, name: str) -> str:
    return f"{told[name]:,} of {told['cells']:,}" if told else "–"


def _near(told: dict[str, int] | None, unit: str) -> str:
    """How many withheld cells are nearly known, and that those hold many units who only protect others."""
    near = _of(told, "near")
    return f"{near}, each of {told['fewest']:,} {unit}s or more" if told and told["near"] else near


def summary(numbers: dict[str, Any]) -> str:
    """A line for every product and dimension of table."""
    from sfumato.confidential.assessment.layout import count, hits, parts, percent

    heads = ["table", "cells", "median relative error", "grade A", "hold before noise", "hold the data", "zeros moved"]
    rows = []
    for name, _, part in parts(numbers):
        relative, one = percent(part["differences"]["relative"][1]), part["honesty"]
        held = [hits(one[key], one["cells"]) for key in ("held", "truth")]
        moved = f"{part['flips']['to_nonzero']:,} of {part['flips']['zeros']:,}"
        newly = f"{part['publishable']['newly']:,} of {part['publishable']['cells']:,}"
        rows.append([name, count(part["cells"]), relative, hits(part["grade_a"], part["stated"]), *held, moved, newly])
    return columns([*heads, "newly publishable"], rows, numbers=7)


def means(numbers: dict[str, Any]) -> str:
    """A line for every mean and dimension of table."""
    from sfumato.confidential.assessment.layout import count, divided, hits, percent

    heads = ["mean", "cells with a record", "have a mean", "median APD", "within 10%", "right tail"]
    rows = []
    for name, one in divided(numbers):
        told, held = one["differences"], one["honesty"]
        off = [percent(share) for share in (told["relative"][1], told["within_10"], told["right_tail"])]
        both = [hits(held[key], held["cells"]) for key in ("held", "truth")]
        rows.append([name, count(one["asked"]), count(told["cells"]), *off, *both])
    return columns([*heads, "hold before noise", "hold the data"], rows, numbers=7)


def swept(sweep: dict[str, Any]) -> str:
    """A line for every budget that was tried and every product, or why one was not."""
    from sfumato.confidential.assessment.layout import percent

    heads = ["rehearsed at", "table", "median APD", "within 10%", "right tail", "grade A", "margins that hold"]
    rows = []
    for point in sweep["points"]:
        if point["refused"]:
            rows.append([point["words"], point["refused"], *[""] * 6])
        for one in point["utilities"]:
            told = [percent(one[name]) for name in ("relative", "within_10", "right_tail", "grade_a", "held")]
            rows.append([point["words"], one["product"], *told, percent(point["power"])])
    return columns([*heads, "power at 5%"], rows, numbers=6)
