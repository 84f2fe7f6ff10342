"""Text files beside a plan: lists of levels, registers and totals are in UTF-8, or in the encoding of the data."""

import pytest

import sfumato as sf
from sfumato.plan import Plan

PLAN = """
name = "places"
[data]
unit = "establishment"
ENCODING
[frame]
file = "frame.csv"
id = "id"
[attributes.place]
levels = "places.csv"
[hidden]
neighbours = "square-root-within"
unit = "establishment"
id = "id"
beta = { jobs = "1" }
[limit]
mu = "2"
[[measure]]
name = "rows"
of = { statistic = "total", column = "jobs" }
by = ["establishment"]
with = { mechanism = "square-root", mu = "1" }
[[exposure]]
kind = "assumed known"
what = "the frame"
why = "registers are public"
"""
LATIN = 'encoding = "latin-1"'


def read(folder, said: str, levels: str, frame: str) -> list[str]:
    (folder / "plan.toml").write_text(PLAN.replace("ENCODING", said), "utf-8")
    (folder / "places.csv").write_text("code,label\nKöln,Köln am Rhein\nBonn,Bonn\n", levels)
    (folder / "frame.csv").write_text("id,place\nä1,Köln\nb2,Bonn\n", frame)
    plan = Plan.read(folder / "plan.toml")
    frame = plan.over.register
    return [
        plan.schema.attribute("place").levels.label("Köln"),
        *frame.ids.to_pylist(),
        *frame.places["place"].tolist(),
    ]


@pytest.mark.parametrize("levels", ["utf-8", "utf-8-sig", "latin-1"])
@pytest.mark.parametrize("frame", ["utf-8", "utf-8-sig", "latin-1"])
def test_what_is_utf_8_stays_so_and_what_is_not_is_in_the_encoding_of_the_data(tmp_path, levels, frame):
    """A plan that named an encoding had its lists in UTF-8 until now: those still mean the same."""
    assert read(tmp_path, LATIN, levels, frame) == ["Köln am Rhein", "b2", "ä1", 1, 0]


@pytest.mark.parametrize(
    ("levels", "frame", "named"), [("latin-1", "utf-8", "places.csv"), ("utf-8", "latin-1", "frame.csv")]
)
def test_without_an_encoding_other_letters_are_refused(tmp_path, levels, frame, named):
    with pytest.raises(sf.PlanError, match=rf"{named}.* cannot be read; .*encoding"):
        read(tmp_path, "", levels, frame)
