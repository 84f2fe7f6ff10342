"""Address: the query string that asks a question, written one way only."""

from urllib.parse import quote, urlencode

from sfumato.query.answer import Placement
from sfumato.serve.catalogue import Sheet
from sfumato.serve.question import Question, code_list, code_lists

Pairs = list[tuple[str, str]]


def data_path(sheet: Sheet, base: str, *, lasting: bool = True) -> str:
    """Where a table gives its data; the lasting path names this very release."""
    return f"{base}/api/v2/tables/{quote(sheet.lasting_id if lasting else sheet.id, safe='~')}/data"


def data_query(question: Question, placement: Placement | None = None, form: str = "", language: str = "en") -> str:
    """The query string of a question; a code list stands for its codes where they are just those."""
    pairs = [pair for name in question.shown for pair in _shown(question, name)]
    for name, groups in question.groups.items():
        pairs += [(f"group[{name}]", f"{group.name}:{code}") for group in groups for code in group.codes]
    pairs += [(f"sum[{name}]", code) for name, codes in question.within.items() for code in codes]
    if placement is not None:
        pairs += [("stub", name) for name in placement.stub] + [("heading", name) for name in placement.heading]
    pairs += [("lang", language)] if language != "en" else []
    pairs += [("outputFormat", form)] if form else []
    return urlencode(pairs, safe="[],:*")


def _shown(question: Question, name: str) -> Pairs:
    levels, codes = question.sheet.attribute(name).levels, question.shown[name]
    if not codes:
        return []
    if not levels.depth and codes == levels.codes:
        return [(f"valueCodes[{name}]", "*")]
    for listed in code_lists(levels):
        if code_list(levels, listed) == codes:
            return [(f"codelist[{name}]", listed)]
    # A code that holds a comma stands alone in a parameter of its own.
    together = [code for code in codes if "," not in code]
    pairs = [(f"valueCodes[{name}]", ",".join(together))] if together else []
    return pairs + [(f"valueCodes[{name}]", code) for code in codes if "," in code]
