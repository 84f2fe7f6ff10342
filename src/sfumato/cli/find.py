"""The command that finds tables, variables and levels by words, with their numbers."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sfumato.cli.options import Json, Language
from sfumato.cli.output import note, say, say_json
from sfumato.errors import QueryError

if TYPE_CHECKING:
    from sfumato.query import Find


def find(
    words: Annotated[str, typer.Argument(metavar="WORDS", help="What to look for: names, codes, or nearly so.")],
    folders: Annotated[list[Path], typer.Argument(metavar="DIR…", help="Folders of releases.")],
    most: Annotated[int, typer.Option(help="The most that is printed.", min=1, max=20)] = 8,
    language: Language = "",
    json: Json = False,
) -> None:
    """Find a table, a variable or a level in releases by its name, code or synonym, and print its number."""
    import sfumato

    engines = [sfumato.open(folder, language) for folder in folders]
    found = sfumato.find(engines, words, most)
    for warning in dict.fromkeys(one for engine in engines for one in engine.warnings()):
        note(warning)
    if json:
        say_json([_told(one) | {"others": [_told(other) for other in one.with_others()[1:]]} for one in found])
        return
    if not len(found):
        raise QueryError(f"Nothing in these releases is called '{words}', nor nearly so; try fewer or other words.")
    if found.mistyped:
        note(f"Nothing is called just that, so this was looked for: {' '.join(found.meant)}.")
    for one in found:
        where = ", ".join(f"{name}={code}" for name, code in one.codes) or one.variable
        named = f"{one.label} ({where})" if where else one.label
        what = f"percent of each row, {one.statistic}" if one.share else one.statistic
        say(f"{named}. {what}, {_release(one)}{_number(one)}")
        for other in one.with_others()[1:]:
            say(f"    {other.statistic}{_number(other)}")


def _release(one: "Find") -> str:
    manifest = one.table.engine.release.manifest
    return f"{manifest.title} {manifest.period}".strip()


def _number(one: "Find") -> str:
    """The number of a find with its error, after what it is of; '' where there is none."""
    return "" if one.figure is None else f": {one.figure!r} {one.unit}"


def _told(one: "Find") -> dict[str, object]:
    """A find for machines."""
    figure = one.figure
    known = (
        {"estimate": figure.value, "moe90": _margin(one), "grade": figure.grade, "caveat": figure.caveats.said()}
        if figure is not None
        else {}
    )
    return {
        "label": one.label, "table": one.statistic, "statistic": one.table.name, "release": _release(one),
        "unit": one.unit, "where": dict(one.codes), "rows": one.variable, "per": one.per, "share": one.share,
        "synonym": one.synonym, **known,
    }  # fmt: skip


def _margin(one: "Find") -> float | None:
    from sfumato.release import stated

    return None if one.figure is None else stated(one.figure.moe(0.90))
