"""The command `variance`: a variance function fitted to replicate weights, and what to publish it exposes or costs."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sfumato.cli.agency import opened
from sfumato.cli.options import Data, EngineName, Json, PlanFile
from sfumato.cli.output import CONFIDENTIAL, columns, note, say, say_json
from sfumato.cli.private_file import written_privately

if TYPE_CHECKING:
    from sfumato.confidential.variance import FittedVariance

AS_THEY_ARE = """To publish a and b as they are costs no budget and is outside the promise: they are computed from every
record without noise, so whoever knows all records but one learns something of that one, and more with every release.
The plan must list them:

[[sampling]]
of = "{of}"
a = "{a:.6g}"
b = "{b:.6g}"
source = "fitted to replicate weights"
outside = true

[[exposure]]
kind = "published"
what = "the variance function of {of}"
why = "say here why these two numbers may be let out"
"""
BOUGHT = """To buy b keeps the promise. From Σw² and Σw it is {b:.6g} before noise; deff = "{deff:.3g}" would bring
it to the b above, and is a number of the data as well, so take that of an earlier year. Two measures with
{mechanism} cost {costs} each and leave b off by {off}:

[[measure]]
name = "squares"
of = {{ statistic = "total", column = "{column}", power = 2, clip_value = ["{low}", "{high}"], step = "{step}" }}
by = []
with = {{ … }}

another named weights, with clip = ["{low}", "{high}"] in place of power and clip_value, and

[[sampling]]
of = "{of}"
squares = "squares"
weights = "weights"
deff = "…"
"""


def variance(
    plan: PlanFile,
    data: Data,
    of: Annotated[str, typer.Option(metavar="MEASURE", help="Which measure; the first that sums the weight.")] = "",
    plot: Annotated[Path | None, typer.Option(help="Draw estimates, errors and the fit to this .svg file.")] = None,
    engine: EngineName = "",
    json: Json = False,
) -> None:
    """Fit a variance function a x² + b x to replicate weights, and say what it takes to publish it; confidential."""
    from sfumato.confidential.calibration_signs import find_calibration
    from sfumato.confidential.variance import fit_variance
    from sfumato.plan import Plan

    read = Plan.read(plan)
    microdata = opened(data, read, engine)
    found, signs = fit_variance(read, microdata, of), find_calibration(read, microdata)
    if plot is not None:
        from sfumato.confidential.variance_plot import variance_plot

        written_privately(plot, variance_plot(found).to_svg())
        note(f"The plot is {plot}; only you may read it, and it must stay inside.")
    if json:
        say_json(_told(found) | ({"calibration": signs.to_dict()} if signs.words else {}))
    else:
        say("\n\n".join(filter(None, [CONFIDENTIAL, _words(found), signs.words])))


def _told(found: "FittedVariance") -> dict[str, object]:
    """The fit for machines."""
    bought = {"b": found.bought.b, "relative_error": found.bought.off, "each_costs": found.bought.costs}
    return {
        "confidential": True,
        "notice": CONFIDENTIAL,
        "measure": found.of.name,
        "method": found.method,
        "a": found.a,
        "b": found.b,
        "estimates": len(found.estimates),
        "fitted_over_replicated": dict(zip(("first_decile", "median", "ninth_decile"), found.ratios, strict=True)),
        "bought": bought | {"deff": found.deff},
    }


def _words(found: "FittedVariance") -> str:
    """The fit, how good it is, and the two ways to publish it."""
    low, middle, high = found.ratios
    heads, rows = ["estimate", "SE by replicates", "SE by a and b"], found.groups()
    as_they_are = AS_THEY_ARE.format(of=found.of.name, a=found.a, b=found.b)
    return "\n".join([
        f"Sampling variance of '{found.of.name}' as a x² + b x: a = {found.a:.6g}, b = {found.b:.6g}.",
        f"Fitted to {len(found.estimates):,} estimates. {found.method}",
        f"Its standard errors over those by replication: median {middle:.2f}, eight of ten {low:.2f} to {high:.2f}.\n",
        f"From small to large, in {len(rows)} groups, the middle estimate of each:",
        columns(heads, [[_short(one) for one in row] for row in rows], 3),
        f"\n{as_they_are}\n{_bought(found)}",
    ])  # fmt: skip


def _bought(found: "FittedVariance") -> str:
    """How b is bought, what it costs and how good it will be."""
    from sfumato.privacy import plain

    bought, squares = found.bought, found.bought.squares
    low, high = (plain(bound) for bound in squares.clip_value or ())
    off = (
        "as much as cannot be told before there are data" if bought.off is None else f"about {bought.off:.2g} of itself"
    )
    told = {"of": found.of.name, "b": bought.b, "deff": found.deff, "costs": bought.costs, "off": off}
    priced = {"mechanism": bought.with_.words(), "column": squares.column, "step": plain(squares.step)}
    return BOUGHT.format(**told, **priced, low=low, high=high)


def _short(value: float) -> str:
    """A number to four digits.

    >>> _short(12345.6), _short(0.01234567)
    ('12,350', '0.01235')
    """
    return f"{float(f'{value:.4g}'):,.10g}"
