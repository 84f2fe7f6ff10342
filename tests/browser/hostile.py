"""A release whose every text is a payload, and its twin of the same make whose every text is plain."""

from fractions import Fraction

import numpy as np
from tests.browser.payloads import PAYLOADS
from tests.serve.small import GEOMETRIC, promised, small

import sfumato as sf
from sfumato.geography import Shapes
from sfumato.release import (
    Cube,
    ExposureLine,
    Independent,
    Subject,
    open_release,
    seal,
    write_levels,
    write_products,
    write_shapes,
)

SIDE = 10
PLAIN = tuple(f"plain {place}" for place in range(len(PAYLOADS)))


def attribute(name, label, levels):
    """Levels are given as texts; their codes are c0, c1, …, which are payloads nowhere else."""
    listed = [{"code": f"c{place}", "label": text, "note": text} for place, text in enumerate(levels)]
    return sf.Attribute(name, sf.Levels.of(listed), label=label)


def cube(name, text, attributes):
    table = sf.Table(tuple(attributes))
    about = {"name": name, "statistic": "count", "title": text, "unit": text, "step": Fraction(1), "note": text}
    values = np.arange(np.prod(table.shape)).reshape(table.shape) + 20
    return Cube(Subject(**about, mechanism=text), table, values, Independent(float(GEOMETRIC)))


def squares(count):
    """A hundred areas, ten by ten."""
    places = {f"c{one}": (one % SIDE * 10, one // SIDE * 10) for one in range(count)}
    outlines = {code: f"M{x} {y} {x + 9} {y} {x + 9} {y + 9} {x} {y + 9}Z" for code, (x, y) in places.items()}
    middles = {code: (x + 4, y + 4) for code, (x, y) in places.items()}
    return outlines, middles


def hostile(folder, texts, name):
    """Tables by attributes whose labels, levels and notes are the texts, and one more table titled by each of them."""
    manifest = open_release(small(folder.with_name(f"{folder.name}-start"), name)).manifest
    folder.mkdir()
    every, codes = attribute("every", texts[0], texts), sf.Attribute("codes", sf.Levels.of(texts), label=texts[1])
    other = attribute("other", texts[2], texts[3:5])
    labelled = [attribute(f"a{place}", text, [text]) for place, text in enumerate(texts)]
    cubes = [cube("every", texts[5], [every, other]), cube("codes", texts[6], [codes, other])]
    cubes += [cube(f"labels{tens}", texts[tens], labelled[tens * SIDE :][:SIDE]) for tens in range(SIDE)]
    cubes += [cube(f"t{place}", text, [other]) for place, text in enumerate(texts)]
    outlines, middles = squares(len(texts))
    shapes = [Shapes("every", 100, 100, outlines, middles, source=texts[7], projection=texts[8])]
    said = {
        "title": texts[9],
        "period": texts[10],
        "unit": texts[11],
        "software": texts[12],
        "why": texts[13],
        "promise": promised({"epsilon": "1"}, words=texts[14], loss_words=texts[15]),
        "exposures": [ExposureLine(kind="invariant", what=text, why=text) for text in texts],
        "products": write_products(folder, cubes),
        "attributes": write_levels(folder, [every, codes, other, *labelled]),
        "geographies": write_shapes(folder, shapes),
        "files": {},
    }
    seal(folder, manifest.model_copy(update=said))
    return folder
