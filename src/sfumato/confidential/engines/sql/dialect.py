"""Dialect: how a column of any type is read as a code, a number, whole steps or the name of a unit, in DuckDB's SQL.

Every source is read by its own types before the sources are put together, so that 7, 7.0 and the text "7" are one code
and one unit wherever they stand.
"""

from collections.abc import Sequence
from fractions import Fraction
from math import isfinite

from sfumato.schema import Attribute, Bands, Clipped

WHOLE = 1e-6
"""How far from a whole number of steps a number may be that was written as one."""

FLOATS = {"FLOAT": 2**24, "DOUBLE": 2**53}
"""The types that hold every whole number only up to a bound."""
INTEGERS = {f"{sign}{size}" for sign in ("", "U") for size in ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT")}
WIDE = {"UBIGINT", "HUGEINT", "UHUGEINT"}
"""The integers that 64 bits with a sign do not hold."""


def plain_text(name: str) -> str:
    """The value as text without a collation, under which one text would equal several."""
    return f"decode(encode(CAST({name} AS VARCHAR)))"


def text(name: str, kind: str) -> str:
    """The value as text: whole numbers have no point, and there is none ('') for null, NaN and the empty text."""
    written = plain_text(name)
    if kind in FLOATS:
        whole = f"{name} = floor({name}) AND abs({name}) < {2**53}"
        short = f"CASE WHEN {whole} THEN CAST(CAST({name} AS BIGINT) AS VARCHAR) ELSE {written} END"
        return f"(CASE WHEN {name} IS NULL OR isnan({name}) THEN '' ELSE {short} END)"
    if kind.startswith("DECIMAL") and not kind.endswith(",0)"):
        written = f"rtrim(rtrim({written}, '0'), '.')"
    return f"coalesce({written}, '')"


def number(name: str, kind: str) -> str:
    """The value as a number, null where it is none or NaN; a short float is the decimal that it prints as."""
    if kind == "DOUBLE" or kind in INTEGERS or kind.startswith("DECIMAL"):
        value = f"CAST({name} AS DOUBLE)"
    else:
        value = f"TRY_CAST(CAST({name} AS VARCHAR) AS DOUBLE)"
    return f"(CASE WHEN isnan({value}) THEN NULL ELSE {value} END)"


def is_number(kind: str) -> bool:
    return kind in FLOATS or kind in INTEGERS or kind.startswith("DECIMAL")


def name_kind(kind: str) -> str:
    """What a name is stored as: a number, or the type of its text."""
    return "number" if is_number(kind) else kind.split(" ", maxsplit=1)[0]


def unit(name: str, kind: str) -> str:
    """The name of a unit or record, null where there is none: a float that may stand for several numbers names none."""
    if kind in FLOATS:
        exact = f"{name} = floor({name}) AND abs({name}) < {FLOATS[kind]}"
        return f"(CASE WHEN {exact} THEN CAST({name} AS BIGINT) END)"
    if kind.startswith("DECIMAL"):
        return f"(CASE WHEN {name} = floor({name}) THEN CAST({name} AS HUGEINT) END)"
    if kind in INTEGERS:
        return f"TRY_CAST({name} AS {'HUGEINT' if kind in WIDE else 'BIGINT'})"
    return f"(CASE WHEN ltrim({plain_text(name)}) <> '' THEN {plain_text(name)} END)"


def spelling(name: str) -> str:
    """What several ways to write one name share, by the rule of `schema.spelling`."""
    return f"spelled(CAST({name} AS VARCHAR))"


def leaf(attribute: Attribute, listed: str, number: str) -> str:
    """The number of a leaf: as listed for a text, else by the bands of a number; -1 where there is none."""
    parts = [f"WHEN {listed} IS NOT NULL THEN {listed}"]
    if isinstance(attribute.read, Bands):
        parts += _bands(attribute, attribute.read, number)
    return f"CAST(CASE {' '.join(parts)} ELSE -1 END AS INTEGER)"


def _bands(attribute: Attribute, bands: Bands, number: str) -> list[str]:
    missing = attribute.missing
    codes = [numeral(code) for code in missing.codes] if missing else []
    stated = ", ".join(literal(code) for code in codes if code is not None)
    rising = list(zip(bands.edges, attribute.banded, strict=True))
    return ([f"WHEN {number} IN ({stated}) THEN {attribute.missing_leaf}"] if stated else []) + [
        f"WHEN {number} >= {literal(edge)} THEN {leaf}" for edge, leaf in reversed(rising)
    ]


def given(number: str, text: str, missing: Fraction | None, codes: Sequence[Fraction] = ()) -> str:
    """A number, or what a missing one stands for: nothing at all or a code; a text that is no number is not missing."""
    if missing is None:
        return number
    coded = f" OR {number} IN ({', '.join(map(literal, codes))})" if codes else ""
    return f"(CASE WHEN lower({text}) IN ('', 'nan'){coded} THEN {literal(missing)} ELSE {number} END)"


def clipped(number: str, value: Clipped) -> str:
    """A number in whole steps: held within the clip, squared by its power, rounded half up, held again; or null.

    Every operation is one of IEEE 754, so that all engines come to the same step.
    """
    held = f"greatest(least({number}, {literal(value.high)}), {literal(value.low)})"
    held = f"({held} * {held})" if value.power == 2 else held
    # In floats 0.35 is 3.4999999999999996 steps of 0.1; no data mean a millionth of a step.
    millionths = f"round({held} / {literal(value.step)} * {literal(10**6)})"
    steps = f"CAST(floor({millionths} / {literal(10**6)} + 0.5) AS BIGINT)"
    low, high = value.ends
    # greatest and least pass over nulls, so a missing value is kept null by hand.
    return f"(CASE WHEN {number} IS NULL THEN NULL ELSE greatest(least({steps}, {high}), {low}) END)"


def digest(salt: bytes, columns: Sequence[str]) -> str:
    """The keyed digest of a row, as `crowded` defines it."""
    return f"sha256(concat_ws(chr(31), '{salt.hex()}', {', '.join(columns)}))"


def commonest(values: str, most: int) -> str:
    """The query for the commonest of some values, and how many rows have each."""
    return (
        f"SELECT CAST(value AS VARCHAR) AS value, count(*) AS rows FROM ({values}) "  # noqa: S608 - of numbered columns
        f"GROUP BY value ORDER BY rows DESC, value LIMIT {most}"
    )


def numeral(code: str) -> float | None:
    """The number that a code is, if it is one.

    >>> numeral("-9"), numeral("n/a"), numeral("nan")
    (-9.0, None, None)
    """
    try:
        return float(code) if isfinite(float(code)) else None
    except ValueError:
        return None


def literal(value: Fraction | float) -> str:
    return f"CAST({float(value)!r} AS DOUBLE)"


def whole(number: str) -> str:
    """Whether a number is whole, but for what the last digits of a double lose of it: 1.13 is 113 hundredths."""
    return f"(abs({number} - round({number})) <= {WHOLE!r})"


def quoted(name: str) -> str:
    """A name as an SQL identifier, whatever it contains."""
    return '"' + name.replace('"', '""') + '"'


def quoted_text(value: str) -> str:
    """A text as an SQL literal, whatever it contains."""
    return "'" + value.replace("'", "''") + "'"
