"""About: what must travel with a table: what it is, where it is from, how it was protected, and how to cite it."""

import math
from collections.abc import Iterator, Mapping

from sfumato.query.answer import Answer
from sfumato.query.notices import cited, lasting
from sfumato.query.wording import grade_words, words
from sfumato.release import Promise, Release

Line = tuple[str, str]


def about(answer: Answer) -> list[Line]:
    """Everything a reader must know of a table, as pairs of what and words; notices first."""
    said = words(answer.language).listed("about")
    each = [line for one in answer.figures.releases for line in (*_release(one, said), *_privacy(one, said))]
    return [*_table(answer, said), *each, *_use(answer, said)]


def facts(answer: Answer) -> dict[str, object]:
    """The same for programs, under fixed names."""
    manifest = answer.manifest
    return {
        "title": answer.title,
        "statistic": answer.figures.statistic,
        "unit": answer.figures.unit,
        "period": answer.periods,
        "note": answer.counted,
        "caveat": answer.caveat,
        "universe": {name: list(codes) for name, codes in answer.figures.universe.items()},
        "release": answer.release.id,
        "notices": list(answer.notices),
        "withheld": list(answer.figures.reasons(answer.language)),
        "grades": grade_words(manifest.grades, answer.language),
        "promise": manifest.promise.model_dump(),
        "exposures": [exposure.model_dump() for exposure in manifest.exposures],
        "citation": cited(answer.release),
        "address": answer.path,
    }


def _table(answer: Answer, said: Mapping[str, str]) -> Iterator[Line]:
    manifest = answer.manifest
    for notice in answer.notices:
        yield said["notice"], notice
    yield said["title"], answer.title
    yield said["statistic"], answer.figures.statistic
    yield said["unit"], answer.figures.unit
    if manifest.period:
        yield said["period"], answer.periods
    yield said["universe"], answer.universe_words or said["everything"]
    if answer.note:
        yield said["note"], answer.note
    for grade, meaning in grade_words(manifest.grades, answer.language).items():
        yield said["grade"].format(grade=grade), meaning
    for one in answer.figures.missing:
        yield said["missing"].format(mark=one.code), one.reason
    for unsaid in (*answer.unsaid, *answer.remarks):
        yield said["error"], unsaid


def _release(release: Release, said: Mapping[str, str]) -> Iterator[Line]:
    yield said["release"], release.manifest.title
    yield said["release_id"], lasting(release)
    yield said["hash"], release.id
    yield said["issued"], release.manifest.created
    yield said["citation"], cited(release)


def _privacy(release: Release, said: Mapping[str, str]) -> Iterator[Line]:
    manifest, promise = release.manifest, release.manifest.promise
    if promise.formal:
        yield said["hidden"], promise.words
    if promise.formal and promise.not_hidden:
        yield said["not_hidden"], promise.not_hidden
    yield said["loss"], promise.loss_words
    yield said["learned"], _learned(release, said) if promise.formal else said["not_private"]
    for spend in manifest.spends:
        yield said["spend"].format(measure=spend.measure), f"{spend.words}, {spend.mechanism}"
    if manifest.ledger:
        amounts = {"spent": _amounts(manifest.ledger.spent), "limit": _amounts(manifest.ledger.limit)}
        yield said["spent"].format(population=manifest.ledger.population), said["spent_words"].format(**amounts)
        if manifest.ledger.unbounded:
            yield said["unbounded"], said["unbounded_words"].format(count=manifest.ledger.unbounded)
    for exposure in manifest.exposures:
        yield said["exposure"], f"{exposure.kind}: {exposure.sentences}"


def _learned(release: Release, said: Mapping[str, str]) -> str:
    """What can be learned of one unit, or of one firm where its units are hidden together."""
    promise = release.manifest.promise
    hidden = promise.hidden
    key = "learned_words_root" if promise.only_near else "learned_words"
    unit = "firm" if hidden.get("firm") else hidden.get("unit", "unit")
    told, even, sure = in_100(promise.power_at_5_percent), in_100(promise.right_guess), sure_in_100(promise)
    learned = said[key].format(unit=release.called(unit), told=told, even=even)
    return f"{learned} {said['sure_words'].format(fairly=sure[0], very=sure[1])}" if sure else learned


def _use(answer: Answer, said: Mapping[str, str]) -> Iterator[Line]:
    if answer.path:
        yield said["address"], answer.path
    if (answer.columns.estimate.astype(float) < 0).any():
        yield said["negative"], said["negative_words"]
    yield said["once"], said["once_words"]


def sure_in_100(promise: Promise) -> list[int]:
    """How many times in 100 somebody with even odds becomes 90% sure of the truth, and 99%; nothing if unsaid."""
    told = [promise.posterior_above.get(share) for share in ("90%", "99%")]
    return [in_100(chance) for chance in told if chance is not None] if None not in told else []


def in_100(chance: float) -> int:
    """A chance as times in 100, rounded up, as a promise must not sound better than it is.

    >>> in_100(0.2595), in_100(0.26), in_100(1.0)
    (26, 26, 100)
    """
    return min(100, math.ceil(100 * chance - 1e-9))


def _amounts(loss: Mapping[str, str]) -> str:
    return ", ".join(f"{name.replace('_', ' ')} {amount}" for name, amount in loss.items())
