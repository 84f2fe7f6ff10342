"""Values: how a column of any type is read as a code, as a number, or as the name of a unit, in SQL.

Every source is read by its own types before the sources are put together, so that 7, 7.0 and the text "7" are one code
and one unit wherever they stand.
"""

from fractions import Fraction
from math import isfinite

FLOATS = {"FLOAT": 2**24, "DOUBLE": 2**53}
"""The types that hold every whole number only up to a bound."""
INTEGERS = {f"{sign}{size}INT" for sign in ("", "U") for size in ("TINY", "SMALL", "BIG", "HUGE")} | {
    "INTEGER",
    "UINTEGER",
}

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
    """What several ways to write one name share: spaces around it, Unicode form, and zeros of a number left out."""
    trimmed = f"trim(CAST({name} AS VARCHAR))"
    return f"coalesce(CAST(TRY_CAST({trimmed} AS DECIMAL(38, 6)) AS VARCHAR), nfc_normalize({trimmed}))"


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


def quoted(name: str) -> str:
    """A name as an SQL identifier, whatever it contains."""
    return '"' + name.replace('"', '""') + '"'


def quoted_text(value: str) -> str:
    """A text as an SQL literal, whatever it contains."""
    return "'" + value.replace("'", "''") + "'"
