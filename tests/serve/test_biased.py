"""A step that leaves totals biased is told as such wherever its numbers are: in the price, the manifest, the page."""

import pytest
from tests.calibrate.test_nonnegative import planned
from tests.conftest import small_rows

import sfumato as sf
from sfumato.cli.price import price
from sfumato.confidential import Microdata, Options, run
from sfumato.plan.biases import biases


def test_the_bias_stands_in_price_manifest_and_on_the_page(tmp_path, capsys, browse):
    plan = planned('[[then]]\nstep = "one-carrier"\nname = "carried"\ntable = "jobs"\n')
    assert biases(plan)[0].empty_cell == pytest.approx(0.6944, abs=1e-4)
    (tmp_path / "p.toml").write_text(plan.to_toml())
    price(tmp_path / "p.toml")
    assert "Biased: 'carried' (one-carrier). Totals are biased upward" in capsys.readouterr().out
    release = run(plan, Microdata.open(small_rows(400), plan.schema), None, tmp_path / "r", Options(rehearsal=1))
    line = next(one for one in release.manifest.products if one.name == "carried")
    assert "which is unbiased; errors count that. Totals are biased upward" in line.note
    assert line.answers
    assert sf.open(tmp_path / "r").total(of="carried").value == release.products["carried"].values.sum()
    client = browse([tmp_path / "r"])
    assert (
        "Totals are biased upward, by one more for every cell below 0" in client.get("/small~carried?rows=place").text
    )
    data = client.get("/api/v2/tables/small~carried/data").json()
    assert any("biased upward" in one for one in data["note"])
