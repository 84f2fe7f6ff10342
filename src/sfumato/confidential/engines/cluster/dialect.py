"""Dialect: how columns of Spark become numbers, whole steps and keys of groups, in its SQL.

Numbers are doubles, and only operations of IEEE 754 are asked for, so that a value has the same step as with the other
engines. A value of another type is not read in the cluster: records are grouped by it as it stands.
"""

from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from math import ceil

from sfumato.confidential.engines.queries.database import EXACT
from sfumato.confidential.engines.sql.dialect import WHOLE as NEARLY
from sfumato.confidential.engines.sql.dialect import numeral
from sfumato.errors import DataError
from sfumato.schema import Attribute, Bands, Clipped, Reported
from sfumato.schema.spelling import NUMBER, PLAIN

WHOLE = ("tinyint", "smallint", "int", "bigint")
FLOATS = {"float": 2**24, "double": 2**53}
"""The types that hold every whole number only up to a bound."""
SPACES = " \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000"
"""The spaces of Unicode, of which alone no name is made."""
UNTIDY = "[^ -~]|^ | $|  "
"""A letter beyond ASCII, one that is not seen, or a space too many."""
PADDED = "^0[0-9]{1,89}$"
GROUPED = ("string", "boolean", "date", "float", "double", *WHOLE)
"""The types that records are grouped by as they stand, and decimals."""


def quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def literal(value: Fraction | float) -> str:
    """A double.

    >>> literal(-0.5), literal(1e-05), literal(10**16)
    ('(-0.5D)', '(1e-05D)', '(1e+16D)')
    """
    return f"({float(value)!r}D)"


def is_number(kind: str) -> bool:
    """Whether values of a type become doubles in one way; a short float is the decimal that it prints as."""
    return kind == "double" or kind in WHOLE or kind.startswith("decimal")


def refuse_foreign(column: str, kind: str) -> None:
    """Stop at types whose values would be other texts here than there."""
    if kind in GROUPED or kind.startswith("decimal"):
        return
    if kind.startswith("char"):
        why = "pads its texts with spaces, so that no code is found; name a view that has it by rtrim as a string"
    else:
        why = "is not read there; name a view that casts it to a string, a number or a date"
    raise DataError(f"Column '{column}' is of the type {kind} in the cluster, which {why}.")


def number(name: str, kind: str) -> str:
    """The value as a double, null where it is none or NaN."""
    value = f"CAST({name} AS DOUBLE)"
    return f"(CASE WHEN isnan({name}) THEN NULL ELSE {name} END)" if kind == "double" else value


def unit(column: str, kind: str) -> str:
    """The name of a unit or record as a text, null where there is none: that which `crowded` digests."""
    name = quoted(column)
    if kind in FLOATS:
        exact = f"{name} = rint({name}) AND abs({name}) < {literal(FLOATS[kind])}"
        return f"(CASE WHEN {exact} THEN CAST(CAST({name} AS BIGINT) AS STRING) END)"
    if kind.startswith("decimal"):
        return f"(CASE WHEN {name} = floor({name}) THEN CAST(CAST({name} AS DECIMAL(38,0)) AS STRING) END)"
    if kind in WHOLE:
        return f"CAST({name} AS STRING)"
    if kind == "string":
        return f"(CASE WHEN trim(LEADING '{SPACES}' FROM {name}) <> '' THEN {name} END)"
    raise DataError(
        f"Column '{column}' is of the type {kind} in the cluster, and names units or records: store names as texts or "
        "whole numbers, or name a view that casts it to a string."
    )


def name_kind(kind: str) -> str:
    """What a name is stored as: a number, or a text."""
    return "number" if kind in FLOATS or is_number(kind) else kind


def spelling(name: str) -> str:
    """A name in one spelling, by the rule of `schema.spelling`; null of one that must be spelt here.

    Names of plain ASCII are their own spelling, and digits lose the zeros in front.
    """
    bare = f"regexp_replace({name}, '^0+([0-9])', '$1')"
    odd = f"{name} RLIKE '{NUMBER}' AND NOT {name} RLIKE '{PLAIN}'"
    return (
        f"(CASE WHEN {name} RLIKE '{UNTIDY}' THEN NULL WHEN {name} RLIKE '{PADDED}' THEN {bare} "
        f"WHEN {odd} THEN NULL ELSE {name} END)"
    )


def digest(salt: str, columns: Sequence[str]) -> str:
    """The keyed digest of a row, 16 bytes as `crowded` defines it; the salt is a column, for queries are logged.

    It is cut as bytes, which Spark does sooner than to look for the ends of letters.
    """
    texts = ", ".join(columns)
    return f"substring(CAST(sha2(CAST(concat_ws(chr(31), {salt}, {texts}) AS BINARY), 256) AS BINARY), 1, 32)"


def short_digest(name: str, digits: int) -> str:
    """So many hexadecimal digits of the digest of a name, as a number."""
    return f"CAST(conv(substring(sha2(CAST({name} AS BINARY), 256), 1, {digits}), 16, 10) AS BIGINT)"


def together(column: str, kind: str, *, numbered: bool) -> str:
    """64 bits by which the records of a unit come together: the number that names it, or a hash of its name.

    >>> together("id", "int", numbered=True)
    'CAST(`id` AS BIGINT)'
    """
    return f"CAST({quoted(column)} AS BIGINT)" if numbered else f"xxhash64({unit(column, kind)})"


def same(one: str, other: str) -> str:
    """That two values are the same, of which none is one too, in words by which Spark does not join.

    It joins by one number of 64 bits far sooner than by texts, or by numbers that may be none: a hash is given beside.
    """
    return f"((({one} = {other}) <=> true) OR ({one} IS NULL AND {other} IS NULL))"


def said(column: str, kind: str) -> str:
    """What a row says in a column, null for nothing: rows that are the same are so in every column."""
    name = quoted(column)
    if kind == "string":
        return f"nullif({name}, '')"
    return f"(CASE WHEN isnan({name}) THEN NULL ELSE {name} END)" if kind in FLOATS else name


def code(attribute: Attribute, name: str, kind: str) -> str:
    """What records are grouped by for an attribute: the value, or of bands of a number the least value of its band.

    Numbers that mean no answer, and those that fit no band, stay themselves: digits beyond those of doubles are told.
    """
    bands = attribute.read
    if not isinstance(bands, Bands) or not is_number(kind):
        return name
    lowest = {float(one): least(float(one), kind) for one in bands.edges}
    stated = [one for one in map(numeral, attribute.missing.codes if attribute.missing else ()) if one is not None]
    if set(map(float, lowest.values())) & set(stated):
        return name
    value, own = number(name, kind), number(name, kind) if kind == "double" else name
    listed = f"WHEN {value} IN ({', '.join(map(literal, stated))}) THEN {own} " if stated else ""
    rising = " ".join(
        f"WHEN {value} >= {literal(edge)} THEN {_typed(lowest[edge], kind)}" for edge in sorted(lowest, reverse=True)
    )
    return f"(CASE {listed}{rising} ELSE {own} END)"


def least(edge: float, kind: str) -> Fraction:
    """The least value of a type that is, as a double, at or above an edge.

    >>> least(1.5, "int"), least(-0.3, "decimal(6,2)"), least(0.1, "double")
    (Fraction(2, 1), Fraction(-3, 10), Fraction(3602879701896397, 36028797018963968))
    """
    if kind == "double":
        return Fraction(edge)
    parts = 10 ** _scale(kind)
    whole = ceil(Fraction(edge) * parts)
    return Fraction(whole - 1 if (whole - 1) / parts >= edge else whole, parts)


def _typed(value: Fraction, kind: str) -> str:
    """A value of a type; a whole number that 64 bits do not hold is a decimal."""
    if kind == "double":
        return literal(value)
    scale = _scale(kind)
    written = f"{Decimal(f'{value * 10**scale}E-{scale}'):f}"
    return f"({written}{'L' if kind in WHOLE and abs(value) < 2**63 else 'BD'})"


def _scale(kind: str) -> int:
    """How many digits a type of whole numbers or decimals has behind the point."""
    return 0 if kind in WHOLE else int(kind.rstrip(")").rpartition(",")[2])


def steps(name: str, kind: str, value: Clipped | Reported, called: str) -> tuple[str, str, str]:
    """A number in whole steps, in three turns under one name; null where there is none, or a rule is broken."""
    given = number(name, kind)
    if value.missing is not None:
        given = f"coalesce({without_codes(given, value.codes)}, {literal(value.missing)})"
    return _clipped(given, value, called) if isinstance(value, Clipped) else _reported(given, value, called)


def without_codes(given: str, codes: Sequence[Fraction]) -> str:
    """A number, null where it is a code for a missing value."""
    listed = ", ".join(map(literal, codes))
    return f"(CASE WHEN {given} IN ({listed}) THEN NULL ELSE {given} END)" if codes else given


def _reported(given: str, value: Reported, called: str) -> tuple[str, str, str]:
    """Steps, the whole number that these are if they are 0 or more and nearly one, and that as an integer."""
    rounded = _rounded(called)
    whole = f"abs({called} - {rounded}) <= {literal(NEARLY)}"
    sound = f"{called} >= 0D AND {called} < {literal(EXACT)} AND {whole}"
    return f"({given} / {literal(value.step)})", f"(CASE WHEN {sound} THEN {rounded} END)", f"CAST({called} AS BIGINT)"


def _clipped(given: str, value: Clipped, called: str) -> tuple[str, str, str]:
    """Millionths of a step, steps with a half more, steps: held within the clip, squared, rounded half up, held."""
    held = f"greatest(least({given}, {literal(value.high)}), {literal(value.low)})"
    held = f"({held} * {held})" if value.power == 2 else held
    # greatest and least pass over nulls, so a missing value is kept null by hand.
    millionths = f"(CASE WHEN {given} IS NOT NULL THEN {held} / {literal(value.step)} * {literal(10**6)} END)"
    low, high = value.ends
    below = f"CAST(rint({called}) - CASE WHEN rint({called}) > {called} THEN 1D ELSE 0D END AS BIGINT)"
    clipped = f"(CASE WHEN {called} IS NOT NULL THEN greatest(least({below}, {high}L), {low}L) END)"
    return millionths, f"({_rounded(called)} / {literal(10**6)} + 0.5D)", clipped


def _rounded(term: str) -> str:
    """The nearest whole number, halves away from 0, as C and DuckDB round; rint takes halves to even ones."""
    return f"(CASE WHEN abs({term} - rint({term})) = 0.5D THEN {term} + 0.5D * signum({term}) ELSE rint({term}) END)"


def lattice(term: str, scale: float) -> str:
    """A term times a power of two as a whole number, halves away from 0; it has 62 bits at most.

    A double becomes a decimal by way of 64 bits, as Spark's own cast keeps the digits that it prints alone.
    """
    return f"CAST(CAST({_rounded(f'({term} * {literal(scale)})')} AS BIGINT) AS DECIMAL(20,0))"
