"""Statement: what the manifest of a run says, from the plan, its price and the ledger; nothing that the data decide."""

from collections.abc import Sequence
from typing import Any

from sfumato import __version__
from sfumato.confidential.chain import Entry
from sfumato.confidential.options import Options
from sfumato.foreign_text import joined
from sfumato.plan import Plan, Price
from sfumato.plan.margins import typical
from sfumato.plan.sampling import NoisyTotal
from sfumato.plan.weights import not_promised
from sfumato.privacy import Spend, Unbounded, posteriors
from sfumato.privacy.ledger import Ledger, not_counted
from sfumato.privacy.notation import hidden_from_dict, hidden_to_dict, loss_from_dict, loss_to_dict
from sfumato.release import Anchor, ExposureLine, Manifest, Product, Promise, SpendLine, now
from sfumato.release import stated as known
from sfumato.release.promise import ImpliedLine
from sfumato.schema import Box


def stated(plan: Plan, price: Price, options: Options, products: Sequence[Product] = ()) -> Manifest:
    """The manifest of a run, still without its place in a ledger, its products and its files."""
    entered = "entered as a release without a bound" if isinstance(price.total, Unbounded) else "charged"
    made = f"{entered}, and written in full" if plan.suppress else f"{entered}, drawn and written in full"
    return Manifest(
        name=plan.name,
        title=plan.title,
        period=plan.period,
        unit=plan.schema.unit,
        created=now(),
        software=f"sfumato {__version__}",
        mode=options.mode,
        rehearsal=options.rehearsal is not None,
        releasable=not options.confidential,
        why=options.why(plan) or made,
        supersedes=options.supersedes,
        promise=_promise(plan, price),
        spends=[_spent(plan, one) for one in price.spends],
        exposures=[ExposureLine(kind=one.kind, what=one.what, why=one.why) for one in plan.exposures],
        ledger=None,
        sampling=_sampled(plan, products),
        grades=dict(plan.publish.grades),
        largest_cv=plan.publish.largest_cv,
        attributes=[],
        products=[],
        synthetic=plan.synthetic,
        language=plan.language,
        languages=dict(plan.translations),
        files={},
    )


def _spent(plan: Plan, spend: Spend) -> SpendLine:
    """What a measure cost, and what its mechanism says of its noise before there are data."""
    measure = plan.measure(spend.measure)
    noise = measure.with_.facts(plan.move(measure), typical(plan, measure))
    loss, words = loss_to_dict(spend.loss), spend.loss.words()
    return SpendLine(measure=measure.name, mechanism=spend.mechanism, loss=loss, words=words, noise=noise)


def anchored(ledger: Ledger, charge: Entry) -> Anchor:
    """Where a charge stands in its ledger, and what it and all releases that were published cost together.

    A charge that was never published is known to the ledger alone: that a run failed may be due to a record.
    """
    own, published = loss_from_dict(charge.body["loss"]), ledger.published
    hidden = hidden_from_dict(charge.body["hidden"])
    others, sums = len(published.unbounded), published.sums(charge.year, [own])
    return Anchor(
        population=ledger.population,
        head=charge.hash,
        spent=loss_to_dict(sums.loss(ledger.limit)),
        limit=loss_to_dict(ledger.limit),
        per_year=ledger.per_year,
        unbounded=others + isinstance(own, Unbounded),
        not_counted=not_counted(others),
        ledger_id=ledger.id,
        previous=ledger.newest,
        number=len(published.charges) + 1,
        sums=[loss_to_dict(one) for one in sums.losses],
        year=charge.year if ledger.per_year else 0,
        account={} if hidden.relation() == ledger.hidden.relation() else hidden_to_dict(ledger.hidden),
    )


def _sampled(plan: Plan, products: Sequence[Product]) -> dict[str, Any]:
    """What the release says of sampling error: from the plan and from noisy numbers, nothing else."""
    if plan.sampling == "census":
        return {"kind": "census"}
    if isinstance(plan.sampling, str):
        return {"kind": "withheld", "reason": plan.sampling}
    bought = {name for one in plan.sampling for name in one.bought}
    totals = {one.subject.name: _whole(one) for one in products if one.subject.name in bought}
    listed = {one.of: one.stated(totals) for one in plan.sampling}
    functions = {name: one for name, one in listed.items() if not isinstance(one, str)}
    refused = {name: one for name, one in listed.items() if isinstance(one, str)}
    return {"kind": "variance-function", "functions": functions} | ({"refused": refused} if refused else {})


def _whole(product: Product) -> NoisyTotal:
    """The total of a product, and the variance that it states of its noise."""
    step, variance = product.subject.step, known(product.covariance(Box(), Box()))
    return NoisyTotal(float(product.total(Box()) * step), None if variance is None else variance * float(step) ** 2)


def _promise(plan: Plan, price: Price) -> Promise:
    return Promise(
        hidden=hidden_to_dict(plan.hidden),
        words=_hidden_words(plan),
        loss=loss_to_dict(price.total),
        limit=loss_to_dict(plan.limit),
        loss_words=price.total.words(),
        power_at_5_percent=price.total.power(0.05),
        right_guess_from_even_odds=price.total.right_guess(),
        posterior_above=posteriors(price.total),
        not_hidden=_not_hidden(plan),
        near=bool(plan.hidden.alike()),
        implied=_implied(plan, price),
    )


def _not_hidden(plan: Plan) -> str:
    """What the guarantee does not cover, in sentences."""
    return joined(" ", filter(None, [plan.hidden.not_hidden(), not_promised(plan.schema, plan.hidden.unit)]))


def _implied(plan: Plan, price: Price) -> list[ImpliedLine]:
    """What the same loss is to whoever else is hidden; nothing where nobody is."""
    whom = () if isinstance(price.total, Unbounded) else plan.hidden.implied(_called(plan))
    return [ImpliedLine(whom=one.whom, loss=price.of_group(one.steps).words()) for one in whom]


def _hidden_words(plan: Plan) -> str:
    """The promise as one sentence."""
    return plan.hidden.words(_called(plan))


def _called(plan: Plan) -> dict[str, str]:
    """Variables by what the plan calls what it measures of them."""
    titled = {one.of.contribution.column or "": one.title for one in reversed(plan.measures) if one.title}
    return {name: title[:1].lower() + title[1:] for name, title in titled.items()}
