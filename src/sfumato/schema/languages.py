"""Languages: the tags of languages in which a plan says its texts again, and what such a text may be."""

from collections.abc import Iterable, Mapping
from unicodedata import category

from sfumato.errors import PlanError, nearest

OWN = "en"
"""The language that the texts of a plan are in unless it says another."""
LONGEST = 2_000
"""The most characters of one text."""
_PAIRS = (
    "aaabaeafakamanarasavayazbabebgbibmbnbobrbscacechcocrcscucvcydadedvdzeeeleneoeseteufafffifjfofrfygagd"
    "glgngugvhahehihohrhthuhyhziaidieigiiikioisitiujajvkakgkikjkkklkmknkokrkskukvkwkylalblglilnloltlulvmg"
    "mhmimkmlmnmrmsmtmynanbndnengnlnnnonrnvnyocojomorospapiplpsptqurmrnrorurwsascsdsesgsiskslsmsnsosqsrss"
    "stsusvswtatetgthtitktltntotrtstttwtyugukuruzvevivowawoxhyiyozazhzu"
)
TAGS = frozenset(_PAIRS[place : place + 2] for place in range(0, len(_PAIRS), 2))
"""The two letters of every language that has some (ISO 639-1)."""
Texts = Mapping[str, tuple[str, ...]]
"""Columns of a list in further languages, such as `label.de`, each in the order of the list."""


def in_further_languages(columns: Iterable[str], fields: Iterable[str]) -> list[str]:
    """The columns that say a field again in a further language, as `label.de` does; an unknown language is refused.

    >>> in_further_languages(["code", "label.de", "weight", "label"], ["label", "note"])
    ['label.de']
    """
    known, found = set(fields), []
    for column in columns:
        field, dot, tag = (column or "").partition(".")
        if dot and field in known:
            found.append(column)
            refuse_tag(tag, column)
    return found


def refuse_tag(tag: str, written: str) -> None:
    """Refuse what is the tag of no language."""
    if tag not in TAGS:
        raise PlanError(
            f"'{written}' is in no language that is known as '{tag}'; write its two letters (ISO 639-1): de is German."
        )


def refuse_text(text: object, where: str) -> str:
    """A text as a reader may be shown it; control characters and what is no text are refused."""
    if not isinstance(text, str) or not text.strip():
        raise PlanError(f"{where} is no text, or an empty one; leave it out where there is nothing to say.")
    if len(text) > LONGEST:
        raise PlanError(f"{where} has {len(text):,} characters; {LONGEST:,} are the most.")
    if not text.isprintable() and any(category(one) in {"Cc", "Cs", "Zl", "Zp"} or one in _TURNS for one in text):
        raise PlanError(f"{where} holds a control character, which no reader can see; write plain text on one line.")
    return text


_TURNS = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
"""Letters that turn the direction of what follows, by which a text can be made to read as another."""


def by_code(said: object, codes: tuple[str, ...], where: str) -> tuple[str, ...]:
    """What is said of each code of a list, '' where nothing is; a code that is no level is refused.

    >>> by_code({"f": "Frauen"}, ("f", "m"), "de")
    ('Frauen', '')
    """
    if not isinstance(said, Mapping):
        raise PlanError(f"{where} holds a text for each code, as {{ {codes[0]} = '…' }}.")
    known = set(codes)
    for code, text in said.items():
        if code not in known:
            raise PlanError(f"{where} names '{code}', which is no level; {nearest(code, codes)}")
        refuse_text(text, f"{where} of '{code}'")
    return tuple(str(said.get(code, "")) for code in codes)
