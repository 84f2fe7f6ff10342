"""Plans that were damaged: priced and run, or refused; what was run holds the truth within its error."""

import math
import tempfile
import tomllib
from functools import cache
from pathlib import Path
from random import Random

import tomli_w
from tests.conftest import SMALL, small_rows
from tests.fuzz.damage import damaged, damaged_bytes
from tests.fuzz.trials import WrongError

import sfumato as sf
from sfumato.confidential import Microdata, Options, run
from sfumato.plan import Plan
from sfumato.privacy import Unbounded
from sfumato.statistics import Count

ROWS = 400
MORE = """
[[measure]]
name = "by_place"
of = "count"
by = ["place"]
with = { mechanism = "geometric", epsilon = "0.5" }
[[then]]
step = "least-squares"
name = "moved"
table = "jobs"
to = ["by_place"]
[publish]
answers = ["moved", "pay"]
"""
OTHERS = {
    "gaussian": (
        ('epsilon = "2"', 'mu = "2"'),
        ('with = { mechanism = "geometric", epsilon = "1" }', 'with = { mechanism = "rounded-gaussian", mu = "0.5" }'),
    ),
    "named": (
        ('unit = "job"\n[limit]', 'unit = "firm"\nid = "firm"\nat_most = 3\n[limit]'),
        ('epsilon = "2"', 'epsilon = "9"'),
    ),
    "replaced": (('neighbours = "add-remove"', 'neighbours = "replace-one"'),),
}


@cache
def plans() -> tuple[dict, ...]:
    """Plans that can be run, unlike one another."""
    texts = [SMALL, SMALL.replace('epsilon = "2"', 'epsilon = "3"') + MORE]
    for exchanges in OTHERS.values():
        text = SMALL
        for one, other in exchanges:
            text = text.replace(one, other)
        texts.append(text)
    return tuple(map(tomllib.loads, texts))


@cache
def rows():
    jobs = small_rows(ROWS)
    return jobs.append_column("firm", [[f"f{place % 150}" for place in range(ROWS)]])


def written(number: int) -> str:
    """The text of a plan that was damaged, as a table or as a text."""
    chosen = Random(number)
    whole = chosen.choice(plans())
    if number % 5 == 0:
        return damaged_bytes(tomli_w.dumps(whole).encode(), chosen).decode("utf-8", "replace")
    return tomli_w.dumps(_sayable(damaged(whole, chosen)))


def _sayable(part):
    """What TOML can say: it has no null."""
    if isinstance(part, dict):
        return {key: _sayable(one) for key, one in part.items() if one is not None}
    return [_sayable(one) for one in part if one is not None] if isinstance(part, list) else part


def priced_and_run(number: int) -> None:
    """A plan is priced within its limit, run, opened, and near to the truth."""
    plan = Plan.parse(written(number), Path("plan.toml"))
    price = plan.price()
    if not isinstance(price.limit, Unbounded) and not price.total.within(price.limit):
        raise WrongError(f"it costs {price.total.words()} of {price.limit.words()}")
    with tempfile.TemporaryDirectory(prefix="fuzz.") as folder:
        out = Path(folder) / "release"
        run(plan, Microdata.open(rows(), plan.schema), None, out, Options(rehearsal=number))
        engine = sf.open(out)
        for measure in plan.measures:
            if isinstance(measure.of, Count) and not measure.where and plan.hidden.id is None:
                _refuse_far(engine.release.products[measure.name], measure.name)


def _refuse_far(product, name: str) -> None:
    from sfumato.release import stated
    from sfumato.schema import Box

    variance = stated(product.covariance(Box(), Box()))
    far = abs(product.total(Box()) * product.subject.step - ROWS)
    if variance is not None and far > 40 * math.sqrt(variance) + 1:
        raise WrongError(f"{name} is {far} from the truth, with an error of {math.sqrt(variance)}")
