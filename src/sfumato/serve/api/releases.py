"""Releases: what each promises, what all of them cost, what the API can do, and whether it is there."""

import time
from collections.abc import Mapping
from functools import lru_cache

from starlette.requests import Request
from starlette.responses import Response

from sfumato import __version__
from sfumato.privacy.notation import loss_to_dict
from sfumato.query import LARGEST_PAGE
from sfumato.query.accounts import AccountLine, PublicAccount
from sfumato.query.downloads.formats import FORMATS, LARGEST_DOWNLOAD
from sfumato.query.wording import languages
from sfumato.serve.accounts import accounts_of, uncharged
from sfumato.serve.api.describe import Operation
from sfumato.serve.api.lookup import Served, parameters
from sfumato.serve.api.parameters import LANG
from sfumato.serve.api.selection import from_address, language_of
from sfumato.serve.budget_shapes import BudgetResponse, PopulationBudget, ReleaseCharge
from sfumato.serve.editions import Edition
from sfumato.serve.languages import own_of
from sfumato.serve.reply import as_json, edition_of, fresh
from sfumato.serve.shapes import (
    ConfigResponse,
    Feature,
    Health,
    KeyValue,
    Language,
    PrivacyResponse,
    Version,
)

JSON = "application/json"
_WORDS = (
    "Everything that was published about a population adds up in its account. A question to a published release costs "
    "nothing: its noise was drawn once, before publication."
)


def config(served: Served, request: Request) -> Response:
    """What the API can do, and how much it gives at once."""
    language_of(parameters(request, "lang"))  # clients say it of every address, though nothing here is in a language
    limits = served.limits
    bounds = {"maxDownloadCells": str(LARGEST_DOWNLOAD)}
    bounds |= {"formats": ",".join(one.name for one in FORMATS if one.pieces)}
    download = Feature(id="download", params=[KeyValue(key=key, value=value) for key, value in bounds.items()])
    said = ConfigResponse(
        app_version=__version__,
        languages=[Language(id=code, label=label) for code, label in languages().items()],
        default_language=own_of(served.catalogue),
        max_data_cells=LARGEST_PAGE,
        max_calls_per_time_window=limits.calls or 1_000_000,
        time_window=limits.window,
        data_formats=[one.name for one in FORMATS],
        features=[download],
    )
    tag = f"{served.catalogue.tag}-{limits.calls}"
    return as_json(request, said, tag)


def privacy(served: Served, request: Request) -> Response:
    """What a release promises, what each measure cost, and what lies outside the promise."""
    edition = edition_of(served.catalogue, request.path_params["release"])
    language_of(parameters(request, "lang"))
    manifest = edition.release.manifest
    said = PrivacyResponse(
        key=edition.key,
        release=edition.release.id,
        title=manifest.title,
        period=manifest.period,
        releasable=manifest.releasable,
        why=manifest.why,
        notices=[notice.sentence for notice in edition.notices],
        promise=manifest.promise.renamed,
        spends=manifest.spends,
        exposures=manifest.exposures,
        citation=edition.engine.cite(),
    )
    return as_json(request, said, edition.tag)


def budget(served: Served, request: Request) -> Response:
    """What everything published here has cost, as far as the releases tell it."""
    language_of(parameters(request, "lang"))
    editions = served.catalogue.editions
    known = {one.release.id: one for one in editions}
    told = [_account(one, known) for one in accounts_of(editions)]
    rest = [one.release.id for one in uncharged(editions)]
    said = BudgetResponse(populations=told, uncharged=rest, words=_WORDS)
    return as_json(request, said, served.catalogue.tag)


def _account(account: PublicAccount, editions: Mapping[str, Edition]) -> PopulationBudget:
    return PopulationBudget(
        population=account.population,
        year=account.year,
        limit=loss_to_dict(account.limit),
        spent=loss_to_dict(account.spent),
        left=loss_to_dict(account.left),
        unbounded=account.unbounded,
        problems=[one.english() for one in account.problems],
        remarks=[one.english() for one in account.remarks],
        releases=[_charge(entry, editions[entry.release.id]) for entry in account.entries],
    )


def _charge(entry: AccountLine, edition: Edition) -> ReleaseCharge:
    release, anchor = edition.release, entry.release.anchor
    return ReleaseCharge(
        key=edition.key,
        release=release.id,
        title=release.manifest.title,
        created=release.manifest.created,
        loss=release.manifest.promise.loss,
        loss_words=release.manifest.promise.loss_words,
        spent=loss_to_dict(entry.spent),
        ledger=anchor.ledger_id or None,
        previous=anchor.previous or None,
        number=anchor.number or None,
        missing=entry.missing,
        withdrawn=release.withdrawn is not None,
    )


def health(served: Served, _: Request) -> Response:
    """Whether the server answers: a question is asked, at most once a second."""
    _answers(served, int(time.monotonic()))
    return fresh(Health().to_bytes(), JSON)


@lru_cache(maxsize=4)
def _answers(served: Served, second: int) -> int:  # noqa: ARG001 - within a second the answer is kept
    """Work out what the first table says where nothing is selected; a server that cannot has a fault."""
    sheet = next(sheet for edition in served.catalogue.editions for sheet in edition.sheets)
    answer, form = from_address(sheet, [], served.base)
    return len(form.write(answer))


def version(served: Served, _: Request) -> Response:
    """Which program answers from which releases."""
    said = Version(sfumato=__version__, releases=[one.release.id for one in served.catalogue.editions])
    return fresh(said.to_bytes(), JSON)


OPERATIONS = (
    Operation("GetApiConfiguration", "/api/v2/config", config, ConfigResponse, [LANG], (400,)),
    Operation("GetPrivacy", "/api/v2/privacy/{release}", privacy, PrivacyResponse, [LANG]),
    Operation("GetBudget", "/api/v2/budget", budget, BudgetResponse, [LANG], (400,)),
    Operation("GetHealth", "/health", health, Health, (), ()),
    Operation("GetVersion", "/version", version, Version, (), ()),
)
