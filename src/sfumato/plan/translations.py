"""Translations: `[languages.de]`, the texts of a plan in a further language, each held to a text that the plan has."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from sfumato.calibrate import Step
from sfumato.errors import PlanError, nearest
from sfumato.plan.measure import Measure
from sfumato.plan.parts import LanguagePart, PlanPart
from sfumato.release import Translation
from sfumato.schema import Attribute, Schema, Synonyms
from sfumato.schema.languages import OWN, refuse_tag, refuse_text

MAPS = ("labels", "titles", "units", "sentences")
"""What a translation has beside its title: each a text by what stands for it in the plan's own language."""


def own_tag(part: PlanPart) -> str:
    """The language of a plan's own texts, '' for English."""
    if part.language:
        refuse_tag(part.language, part.language)
    return "" if part.language == OWN else part.language


def refuse_own(part: PlanPart, schema: Schema) -> None:
    """A text that is said again in the plan's own language would be two."""
    own = part.language or OWN
    columns = {name for one in schema.attributes for name in one.levels.texts}
    tags = {*part.languages, *(name.rpartition(".")[2] for name in columns)}
    tags |= {tag for one in schema.attributes for tag in one.synonyms.languages}
    if own in tags:
        raise PlanError(f"The plan's own texts are in '{own}', and it says some in '{own}' again; say each once.")


def with_levels(attribute: Attribute, part: PlanPart) -> Attribute:
    """An attribute with the labels, notes and synonyms of its levels that the plan gives in further languages."""
    levels, synonyms = attribute.levels, attribute.synonyms
    for tag, said in part.languages.items():
        refuse_tag(tag, f"languages.{tag}")
        own = {"label": said.levels.get(attribute.name), "note": said.notes.get(attribute.name)}
        try:
            levels = levels.with_texts(tag, {field: texts for field, texts in own.items() if texts})
            synonyms = _more(synonyms, said.synonyms.get(attribute.name, {}), tag)
            synonyms.refuse_unknown(levels.codes)
        except PlanError as error:
            raise PlanError(f"[languages.{tag}] {attribute.name}: {error}") from None
    return replace(attribute, levels=levels, synonyms=synonyms)


def _more(synonyms: Synonyms, said: Mapping[str, str | list[str]], tag: str) -> Synonyms:
    """The synonyms, and those that are given for codes in a further language."""
    pairs = [(code, one) for code, names in said.items() for one in ([names] if isinstance(names, str) else names)]
    return Synonyms.of([*synonyms.records(), *({"code": code, f"synonym.{tag}": name} for code, name in pairs)])


def translations_of(
    part: PlanPart, schema: Schema, measures: Sequence[Measure], steps: Sequence[Step]
) -> dict[str, Translation]:
    """What the plan says in each further language; a text that it does not have itself is refused with the nearest."""
    for tag, said in part.languages.items():
        for field in ("levels", "notes", "synonyms"):
            _refuse_unknown(f"[languages.{tag}.{field}]", getattr(said, field), schema.names)
    known = _known(part, schema, measures, steps)
    return {tag: made for tag, said in part.languages.items() if (made := _translation(tag, said, known))}


def _translation(tag: str, said: LanguagePart, known: Mapping[str, Iterable[str]]) -> Translation:
    if said.title:
        refuse_text(said.title, f"[languages.{tag}] title")
    for field in MAPS:
        place, texts = f"[languages.{tag}] {field}", getattr(said, field)
        _refuse_unknown(place, texts, known[field])
        for key, text in texts.items():
            refuse_text(text, f"{place} of '{key}'")
    return Translation(title=said.title, **{field: getattr(said, field) for field in MAPS})


def _known(
    part: PlanPart, schema: Schema, measures: Sequence[Measure], steps: Sequence[Step]
) -> dict[str, tuple[str, ...]]:
    """The texts of a plan that may be said in further languages."""
    row = schema.unit
    made = [step for step in steps if getattr(step, "title", "")]
    titles = [*(one.own_title(row) for one in measures), *(str(getattr(one, "title", "")) for one in made)]
    units = [row, f"{row}s", str(part.hidden.get("unit", "")), *(one.of.unit for one in measures)]
    units += [str(getattr(one, "unit", "")) for one in made]
    singular = [unit.removesuffix("s") for unit in units]
    reasons = [part.sampling if isinstance(part.sampling, str) else "", str(part.limit.get("unbounded", ""))]
    functions = part.sampling if isinstance(part.sampling, list) else []
    reasons += [*(one.source for one in functions), *(one.source for one in part.geography.values())]
    sentences = [*reasons, *(text for one in part.exposure for text in (one.what, one.why))]
    listed = {"labels": schema.names, "titles": titles, "units": [*units, *singular], "sentences": sentences}
    return {field: tuple(dict.fromkeys(filter(None, texts))) for field, texts in listed.items()}


def _refuse_unknown(place: str, said: Iterable[str], known: Iterable[str]) -> None:
    for key in said:
        if key not in known:
            raise PlanError(
                f"{place} says '{key[:100]}' in that language, which the plan has not; {nearest(key, known)}"
            )
