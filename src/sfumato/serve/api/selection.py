"""Selection: a question as PxWebApi writes it, in an address or in a body, turned into one of ours."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from sfumato.errors import QueryError, nearest
from sfumato.query.answer import Answer, Placement, metrics
from sfumato.query.downloads.formats import BY_NAME, DEFAULT, Format
from sfumato.query.downloads.jsonstat import metric_name
from sfumato.query.wording import languages
from sfumato.serve.address_parameters import Pairs, Parameters
from sfumato.serve.api.written import PARAMS, wished
from sfumato.serve.code_list import CodeList
from sfumato.serve.editions import Sheet
from sfumato.serve.expressions import chosen
from sfumato.serve.jsonstat import more
from sfumato.serve.presentation import Presentation
from sfumato.serve.question import (
    Question,
    all_groups,
    data_path,
    data_query,
    shown_codes,
    universe_codes,
)
from sfumato.serve.shapes import Link, SelectionResponse, VariablePlacement, VariableSelection, VariablesSelection

PLAIN = (
    "outputFormat", "outputFormatParams", "lang", "stub", "heading", "rows", "cols", "share", "sort", "order", "error",
    "change", "per",
)  # fmt: skip
OF_VARIABLE = ("valueCodes", "codelist", "group", "drawn", "sum", "outputValues")

Codes = Mapping[str, tuple[str, ...]]
Body = TypeVar("Body", bound=BaseModel)


def from_address(sheet: Sheet, pairs: Pairs, base: str) -> tuple[Answer, Format]:
    """The answer that an address asks for, and the format it should be given in."""
    given = Parameters.read(pairs, PLAIN, OF_VARIABLE)
    named = given.of_variable
    shown = named["valueCodes"], named["codelist"], named["group"]
    whole = not any((*shown, named["sum"], named["drawn"]))
    question = default_question(sheet) if whole else asked(sheet, *shown, named["sum"], named["drawn"])
    placement = _placement(question, _listed(given, "stub", "rows"), _listed(given, "heading", "cols"))
    return _answer(question, placement, language_of(given), base, Presentation.read(given)), form_of(given)


def default_question(sheet: Sheet) -> Question:
    """What is answered where nothing is selected: the total, or every code of what may not be summed over."""
    every = {} if sheet.product.subject.additive else dict.fromkeys(sheet.names, ("*",))
    return asked(sheet, every, {}, {}, {})


def written_out(
    question: Question, placement: Placement, presented: Presentation, language: str, links: list[Link]
) -> SelectionResponse:
    """A question as a selection: every code of each variable, none of those that are summed over."""
    sheet = question.sheet
    contents = metrics(presented.error, changes=bool(presented.change))
    shown = {metric_name(sheet.names): contents} | {name: question.shown.get(name, ()) for name in sheet.names}
    shown |= {sheet.time: question.shown.get(sheet.time, (sheet.period,))} if sheet.time else {}
    groups = {name: [f"{one.name}:{','.join(one.codes)}" for one in own] for name, own in question.groups.items()}
    variables = [
        {"variable_code": name, "value_codes": list(codes), "groups": groups.get(name, [])}
        for name, codes in shown.items()
    ]
    return SelectionResponse(
        selection=[VariableSelection.model_validate(one) for one in variables],
        placement=VariablePlacement(heading=list(placement.heading), stub=list(placement.stub)),
        sum={name: list(codes) for name, codes in question.within.items()},
        language=language,
        links=links,
        **asdict(presented),
    )


def from_body(sheet: Sheet, body: VariablesSelection, pairs: Pairs, base: str) -> tuple[Answer, Format]:
    """The same from a body; format and language stand in the address."""
    given = Parameters.read(pairs, ("outputFormat", "outputFormatParams", "lang"), ())
    return answer_to(sheet, body, language_of(given), base), form_of(given)


def question_of(sheet: Sheet, body: VariablesSelection) -> Question:
    """The question as it stands in a body; a variable of which no code is selected is summed over."""
    named: dict[str, VariableSelection] = {}
    for one in body.selection:
        if one.variable_code in named:
            raise QueryError(f"The selection names the variable '{one.variable_code}' twice; name it once.")
        named[one.variable_code] = one
    lists = {name: (one.codelist,) for name, one in named.items() if one.codelist and one.value_codes != []}
    groups = {name: tuple(one.groups) for name, one in named.items() if one.groups}
    values = {name: tuple(one.value_codes) for name, one in named.items() if one.value_codes}
    whole = {name for name, one in named.items() if one.value_codes is None} - {*lists, *groups}
    sums = {name: tuple(codes) for name, codes in body.sum.items()}
    for name in named.keys() - {*_metrics(sheet)}:
        sheet.attribute(name)
    return asked(sheet, values | dict.fromkeys(whole, ("*",)), lists, groups, sums, split=False)


def answer_to(sheet: Sheet, body: VariablesSelection, language: str, base: str) -> Answer:
    """The answer to a question as it stands in a body."""
    question, place = question_of(sheet, body), body.placement
    placement = _placement(question, place.stub, place.heading) if place else Placement()
    return _answer(question, placement, language, base, presentation_of(body))


def presentation_of(body: VariablesSelection) -> Presentation:
    """How a body wants its numbers given."""
    return Presentation(body.share, body.sort, body.order, body.error, body.change, body.per)


def asked(
    sheet: Sheet,
    values: Codes,
    lists: Codes,
    groups: Codes,
    sums: Codes,
    drawn: Codes | None = None,
    *,
    split: bool = True,
) -> Question:
    """The question; the metric dimension is always given whole, as an estimate never travels without its errors."""
    metric = _metrics(sheet)
    values, lists = ({name: one for name, one in given.items() if name not in metric} for given in (values, lists))
    for name in [*values, *lists, *groups]:
        sheet.attribute(name)
    listed = {name: (_list_name(sheet, name, given[-1]),) for name, given in lists.items()}
    meant: dict[str, tuple[str, ...]] = {}
    for name, given in values.items():
        if name == sheet.time:
            meant[name] = sheet.timeline.chosen(given, split=split)
            continue
        known = CodeList(sheet.attribute(name).levels, listed.get(name, ("all",))[-1])
        meant[name] = _chosen(sheet, name, known, given, split=split)
    inside = {name: CodeList(sheet.attribute(name).levels, "all") for name in sums if name in sheet.names}
    within = {**sums, **{name: _chosen(sheet, name, inside[name], sums[name], split=split) for name in inside}}
    found = all_groups(sheet, groups, drawn or {})
    shown = dict(shown_codes(sheet, meant, listed, found))
    if sheet.time and shown.get(sheet.time) == (sheet.period,):
        del shown[sheet.time]  # what is given unless periods are selected
    return Question(sheet, shown, universe_codes(sheet, within), found)


def read_body(written: bytes, shape: type[Body]) -> Body:
    """A body in its shape; one that is not says where and why."""
    try:
        return shape.model_validate_json(written)
    except ValidationError as error:
        wrong = error.errors(include_url=False, include_input=False)
        first = min(wrong, key=lambda one: one["type"] != "extra_forbidden")  # a name that is misspelt lacks elsewhere
        place = ".".join(str(part) for part in first["loc"]) or "the body"
        raise QueryError(f"{place[:200]}: {first['msg']}.") from None


def language_of(given: Parameters) -> str:
    return one_of(given, "lang", "en", list(languages()))


def form_of(given: Parameters, default: str = DEFAULT.name, also: Sequence[str] = ()) -> Format:
    """The format that is asked for, written as is wished; `also` is wished where the address says nothing of it."""
    if "" in given.plain.get("outputFormatParams", ()):
        raise QueryError(f"outputFormatParams has no value; known: {', '.join(PARAMS)}")
    wishes = _listed(given, "outputFormatParams") or also
    return wished(BY_NAME[one_of(given, "outputFormat", default, list(BY_NAME))], wishes)


def is_true(given: Parameters, name: str) -> bool:
    """Whether a switch is on; Python's clients write True."""
    plain = {name: tuple(one.lower() for one in given.plain.get(name, ("false",)))}
    return one_of(Parameters(plain, {}), name, "false", ["true", "false"]) == "true"


def one_of(given: Parameters, name: str, default: str, known: list[str]) -> str:
    """The value of a parameter that is one of a few; given without a value it is none of them."""
    if "" in given.plain.get(name, ()):
        raise QueryError(f"{name} has no value; known: {', '.join(known)}")
    return given.one(name, default, known)


def _chosen(sheet: Sheet, name: str, known: CodeList, given: tuple[str, ...], *, split: bool) -> tuple[str, ...]:
    try:
        return chosen(known, given, split=split)
    except QueryError as error:
        raise QueryError(f"{sheet.attribute(name).label}: {error}") from None


def _list_name(sheet: Sheet, name: str, written: str) -> str:
    """The code list of a variable by its short name or by the name that it has on the whole server."""
    for key in (sheet.edition.key, sheet.edition.lasting):
        written = written.removeprefix(f"{key}~{name}~")
    return written


def _metrics(sheet: Sheet) -> set[str]:
    """The names of the metric dimension: its own, and the one that it had, where no variable has it."""
    return {metric_name(sheet.names), *({"metric"} - {*sheet.names})}


def _listed(given: Parameters, *names: str) -> list[str]:
    written = [value for name in names for value in given.plain.get(name, ())]
    return [part.strip() for value in written for part in value.split(",") if part.strip()]


def _placement(question: Question, stub: list[str], heading: list[str]) -> Placement:
    placed = [*stub, *heading]
    known = {*question.shown, *_metrics(question.sheet), question.sheet.time}
    for name in placed:
        if name not in known:
            question.sheet.attribute(name)
            raise QueryError(
                f"'{name}' is placed but not shown; show it with valueCodes; {nearest(name, question.shown)}"
            )
        if placed.count(name) > 1:
            raise QueryError(f"'{name}' is placed twice; a variable stands above the table or at its side.")
    return Placement(tuple(stub), tuple(heading))


def _answer(question: Question, placement: Placement, language: str, base: str, presented: Presentation) -> Answer:
    sheet, further = question.sheet, presented.lasting(question)
    query = data_query(question, placement, language=language, further=further, lasting=True)
    path = data_path(sheet, base)
    address = f"{path}?{query}" if query else path
    figures = presented.figures(question, placement)
    told, error = sheet.timeline.sentences(figures.releases), presented.error
    return Answer(figures, placement, language, address, told, lambda: more(sheet, question.shown, address), error)
