"""Spelling: what several ways to write one name share, one rule for units, keys, frames and firms in every engine."""

from typing import Any

_UNSEEN = (
    r"[\p{C}\x{34F}\x{115F}\x{1160}\x{17B4}\x{17B5}\x{180B}-\x{180F}\x{3164}\x{FE00}-\x{FE0F}\x{FFA0}"
    r"\x{E0000}-\x{E0FFF}]+"
)
"""Control and format characters, and the others that Unicode says are not to be seen."""
_SPACE = r"[\s\x{0B}\x{85}\p{Z}]+"
_NUMBER = r"^([+-]?)0*([0-9]+?)(?:\.0*|(\.[0-9]*?[1-9])0*)?$"


def spelled(names: Any) -> Any:
    r"""Each name of an Arrow array in one spelling; case stays.

    Compatible characters are one (NFKC), white space is one space within and none around, what is not seen is left out,
    and so are the needless zeros and the plus of a number.

    >>> import pyarrow as pa
    >>> spelled(pa.array(["A\r", "\u200bA\t", "Ａ", "a", " 007.50", "7.5", "+7.0", "-0"])).to_pylist()
    ['A', 'A', 'A', 'a', '7.5', '7.5', '7', '0']
    """
    import pyarrow.compute as pc

    made = pc.utf8_normalize(names, form="NFKC")
    made = pc.replace_substring_regex(made, _SPACE, " ")
    made = pc.utf8_trim_whitespace(pc.replace_substring_regex(made, _UNSEEN, ""))
    made = pc.replace_substring_regex(made, _NUMBER, r"\1\2\3")
    return pc.replace_substring_regex(pc.replace_substring_regex(made, r"^\+([0-9])", r"\1"), r"^-0$", "0")


def misspelt(names: Any) -> bool:
    """Whether some of the names, each of which counts as another, are one name in several spellings."""
    apart = names.unique()
    return len(spelled(apart).unique()) < len(apart)
