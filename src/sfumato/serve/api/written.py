"""Written: what PxWebApi's outputFormatParams ask of a file: codes, texts or both, its title, another separator."""

import csv
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from sfumato.errors import QueryError, nearest
from sfumato.query.answer import Answer
from sfumato.query.downloads.formats import Format
from sfumato.query.downloads.tidy import harmless

SEPARATORS = {"SeparatorTab": "\t", "SeparatorSpace": " ", "SeparatorSemicolon": ";"}
TEXTS = ("UseCodes", "UseTexts", "UseCodesAndTexts")
PARAMS = (*TEXTS, "IncludeTitle", *SEPARATORS)


@dataclass(frozen=True)
class Wish:
    """How a file of lines should be written."""

    texts: str = "UseCodesAndTexts"
    titled: bool = False
    separator: str = ","

    @classmethod
    def read(cls, given: Sequence[str]) -> "Wish":
        """Wishes that do not contradict each other."""
        for one in given:
            if one not in PARAMS:
                raise QueryError(f"outputFormatParams has '{one[:100]}'; {nearest(one[:100], PARAMS)}")
        texts = [one for one in dict.fromkeys(given) if one in TEXTS]
        separators = [one for one in dict.fromkeys(given) if one in SEPARATORS]
        for several in (texts, separators):
            if len(several) > 1:
                raise QueryError(f"outputFormatParams has {' and '.join(several)}, which cannot be combined; give one.")
        separator = SEPARATORS[separators[0]] if separators else ","
        return cls(texts[0] if texts else "UseCodesAndTexts", "IncludeTitle" in given, separator)


def wished(form: Format, given: Sequence[str]) -> Format:
    """The format, written as is wished; what it cannot be is refused."""
    if not given:
        return form
    wish = Wish.read(given)
    if form.name == "xlsx" and wish.texts == "UseCodesAndTexts" and wish.separator == ",":
        return form  # a workbook has its title, codes and texts
    if form.name != "csv" or form.pieces is None:
        able = "csv, and UseCodesAndTexts and IncludeTitle of xlsx, which has both always"
        raise QueryError(f"outputFormatParams {', '.join(given)} cannot be had of {form.name}; they are of {able}.")
    pieces = form.pieces

    def written(answer: Answer) -> Iterator[bytes]:
        return _rewritten(pieces(answer), answer, wish)

    return replace(form, write=lambda answer: b"".join(written(answer)), pieces=written)


def _rewritten(pieces: Iterator[bytes], answer: Answer, wish: Wish) -> Iterator[bytes]:
    """The lines of a CSV file again, with the columns and the separator that are wished for."""
    left_out = {"UseCodes": [label for _, label in answer.titles], "UseTexts": [code for code, _ in answer.titles]}
    names, gone = {harmless(name) for name in left_out.get(wish.texts, ())}, set[int]()
    for number, piece in enumerate(pieces):
        file = io.StringIO()
        writer = csv.writer(file, delimiter=wish.separator)
        if wish.titled and number == 0:
            writer.writerow([harmless(answer.title)])
        lines = list(csv.reader(io.StringIO(piece.decode(), newline="")))
        gone = gone if number else {place for place, name in enumerate(lines[0]) if name in names}
        for line in lines:
            writer.writerow([field for place, field in enumerate(line) if place not in gone])
        del lines, piece  # who waits for its reader holds no more than is to be sent
        yield file.getvalue().encode()
