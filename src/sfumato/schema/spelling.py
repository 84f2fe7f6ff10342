"""Spelling: what several ways to write one name share, one rule for units, keys, frames and firms in every engine."""

import re
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal
from typing import Any
from unicodedata import category, normalize

_NOT_SEEN = (
    *((0x34F, 0x34F), (0x115F, 0x1160), (0x17B4, 0x17B5), (0x180B, 0x180F), (0x2065, 0x2065), (0x2800, 0x2800)),
    *((0x3164, 0x3164), (0xFE00, 0xFE0F), (0xFFA0, 0xFFA0), (0xFFF0, 0xFFF8), (0xE0000, 0xE0FFF)),
)
"""Beside control and format characters the others that Unicode says are not to be seen, from and to."""
_UNSEEN = "".join([r"[\p{C}", *(rf"\x{{{low:X}}}-\x{{{high:X}}}" for low, high in _NOT_SEEN), "]+"])
_SPACE = r"[\s\x{0B}\x{85}\p{Z}]+"
PLAIN = r"^(0|[1-9][0-9]*)$"
NUMBER = r"^[+-]?([0-9][0-9_]*[.]?[0-9_]*|[.][0-9][0-9_]*)([eE][+-]?[0-9]{1,9})?$"


def spelled(names: Any) -> Any:
    r"""Each name of an Arrow array in one spelling; case stays.

    Compatible characters are one (NFKC), white space is one space within and none around, what is not seen is left out,
    and a number is written in one way, without needless zeros, plus or exponent.

    >>> import pyarrow as pa
    >>> spelled(pa.array(["A\r", "\u200bA\t", "Ａ", "a", " 007.50", "7.5", "+7.0", "-0", "1e+05", ".5"])).to_pylist()
    ['A', 'A', 'A', 'a', '7.5', '7.5', '7', '0', '100000', '0.5']
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    made = pc.replace_substring_regex(pc.utf8_normalize(names, form="NFKC"), _SPACE, " ")
    made = pc.utf8_normalize(pc.replace_substring_regex(made, _UNSEEN, ""), form="NFKC")
    made = pc.utf8_trim_whitespace(pc.replace_substring_regex(made, _SPACE, " "))
    odd = pc.and_not(pc.match_substring_regex(made, NUMBER), pc.match_substring_regex(made, PLAIN))
    if not pc.any(odd).as_py():
        return made
    pairs = zip(made.to_pylist(), odd.to_pylist(), strict=True)
    written = [_number(one) if which else one for one, which in pairs]
    return pa.array(written, names.type)


def _number(text: str) -> str:
    """A number in one way, with all its digits; one too long to write out keeps its exponent."""
    # Names such as 5E1234567 have exponents beyond what sums are computed with, and may be longer than these are exact.
    exact = Context(prec=len(text) + 1, Emax=MAX_EMAX, Emin=MIN_EMIN)
    value = exact.create_decimal(text.replace("_", ""))
    short = value.normalize(exact) if value else Decimal(0)
    return f"{short:f}" if abs(short.adjusted()) < 100 else str(short)


def read_alike(words: str) -> str:
    r"""Words as people read them: in one spelling, upper and lower case alike.

    >>> read_alike("Private  establishments\u200b ") == read_alike("private establishments")
    True
    """
    # A command that compares a few words need not load what spells columns.
    text = "".join(map(_seen, "".join(map(_spaced, normalize("NFKC", words)))))
    one = re.sub(" +", " ", "".join(map(_spaced, normalize("NFKC", text)))).strip(" ")
    return (_number(one) if re.fullmatch(NUMBER, one, re.ASCII) else one).casefold()


def _spaced(letter: str) -> str:
    return " " if letter in "\t\n\v\f\r\x85" or category(letter).startswith("Z") else letter


def _seen(letter: str) -> str:
    unseen = category(letter).startswith("C") or any(low <= ord(letter) <= high for low, high in _NOT_SEEN)
    return "" if unseen else letter


def misspelt(names: Any) -> bool:
    """Whether some of the names, each of which counts as another, are one name in several spellings."""
    apart = names.unique()
    return len(spelled(apart).unique()) < len(apart)
