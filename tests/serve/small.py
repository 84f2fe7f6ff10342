"""Small releases made by hand: six cells, and a manifest that says what a test wants it to say."""

from fractions import Fraction
from html.parser import HTMLParser
from secrets import token_hex

import numpy as np

import sfumato as sf
from sfumato.geography import Shapes
from sfumato.mechanisms import Typical
from sfumato.privacy import Bounded
from sfumato.release import (
    Anchor,
    Cube,
    ExposureLine,
    Independent,
    Manifest,
    Promise,
    SpendLine,
    Subject,
    open_release,
    seal,
    write_levels,
    write_products,
    write_shapes,
)

SIZES = sf.Attribute("size", sf.Levels.of(["s", "m", "l"]), label="Size")
SEXES = sf.Attribute("sex", sf.Levels.of(["f", "m"]), label="Sex")
GEOMETRIC = 2 * np.exp(-1) / (1 - np.exp(-1)) ** 2
"""The variance of two-sided geometric noise at epsilon 1."""

NOISE = sf.Geometric(1).facts(Bounded(1, 1, 1), Typical())
"""What a manifest says of that noise."""


def promised(loss, **said):
    lost = {"hidden": {"neighbours": "add-remove", "unit": "firm"}, "words": "Whether any one firm is there."}
    chances = {"power_at_5_percent": 0.1359, "right_guess_from_even_odds": 0.7311}
    return Promise(**{**lost, **chances, "loss": loss, "limit": loss, "loss_words": "epsilon 1", **said})


def anchored(spent, limit, population="firms", per_year=False, unbounded=0, **said):
    """A charge of its own, as no two releases share one."""
    whose = {"population": population, "head": token_hex(32), "spent": spent, "limit": limit, "per_year": per_year}
    return Anchor(**{**whose, "unbounded": unbounded, **said})


def spent(measure="number", mechanism="geometric (epsilon 1)", noise=NOISE):
    return SpendLine(measure=measure, mechanism=mechanism, loss={"epsilon": "1"}, words="epsilon 1", noise=noise)


def small(
    folder,
    name="firms",
    additive=True,
    mechanism="geometric (epsilon 1)",
    variance=GEOMETRIC,
    noise=NOISE,
    by=(SIZES, SEXES),
    more=0,
    **said,
):
    """A release folder; `said` goes into its manifest, and every cell has `more` than it has otherwise."""
    folder.mkdir(parents=True)
    table = sf.Table(by)
    about = {"name": "number", "statistic": "count", "title": "Number of firms", "unit": "firms", "step": Fraction(1)}
    subject = Subject(**about, additive=additive, mechanism=mechanism)
    cube = Cube(
        subject, table, more + np.arange(20, 20 + table.size).reshape(table.shape), Independent(float(variance))
    )
    told = {
        "name": name,
        "title": "Firms",
        "period": "",
        "unit": "firm",
        "created": "2026-01-02T03:04:05Z",
        "software": "by hand",
        "mode": "sound",
        "rehearsal": False,
        "releasable": True,
        "why": "",
        "promise": promised({"epsilon": "1"}),
        "spends": [spent("number", mechanism, noise)],
        "exposures": [ExposureLine(kind="invariant", what="How many firms there are", why="a register tells it")],
        "ledger": None if said.get("rehearsal") else anchored({"epsilon": "1"}, {"epsilon": "8"}),
        "sampling": {"kind": "census"},
        "grades": {"A": 0.15, "B": 0.3},
        "files": {},
    }
    lines = {"products": write_products(folder, [cube]), "attributes": write_levels(folder, by)}
    seal(folder, Manifest(**{**told, **said}, **lines))
    return folder


class Seen(HTMLParser):
    """A page as a reader sees it: its elements, its text, its links."""

    def __init__(self, text):
        super().__init__()
        self.elements, self.words = [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))
        if tag in {"td", "th", "dt", "dd", "br", "div"}:
            self.words.append(" ")

    def handle_data(self, text):
        self.words.append(text)

    @property
    def text(self):
        return " ".join("".join(self.words).split())

    @property
    def links(self):
        return [one["href"] for tag, one in self.elements if tag == "a"]

    def all(self, name):
        """The elements of a class."""
        return [one for _, one in self.elements if name in one.get("class", "").split()]


def seen(client, address, status=200):
    reply = client.get(address)
    assert reply.status_code == status, reply.text[:600]
    return Seen(reply.text)


def mapped(folder):
    """The same release with two squares to draw its sizes on."""
    outlines = {"s": "M0 0 20 0 20 10 0 10Z", "m": "M20 0 40 0 40 10 20 10Z"}
    shapes = Shapes("size", 40, 10, outlines, {"s": (10, 5), "m": (30, 5)}, source="a sketch", projection="none")
    manifest = open_release(folder).manifest
    (folder / "manifest.json").unlink()
    seal(folder, manifest.model_copy(update={"geographies": write_shapes(folder, [shapes])}))
    return folder
