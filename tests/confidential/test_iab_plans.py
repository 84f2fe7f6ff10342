"""The plans of employment biographies: what they claim, what intervals they state, and what they do not show."""

import json
import math
import re
import shutil
from contextlib import closing

import duckdb
import numpy as np
import pyarrow.csv as pacsv
import pyarrow.parquet as pq
import pytest
import shapefile
from tests.commands import command, page

import sfumato as sf
from sfumato.confidential import Microdata, Options, Tabulation, run
from sfumato.confidential.audit import audit_plan
from sfumato.confidential.contradicted import contradicted
from sfumato.draws import SeededDraws
from sfumato.errors import PlanError, PromiseError, QueryError
from sfumato.geography.locations import Located, read_locations
from sfumato.geography.made import FROM_LOCATIONS
from sfumato.geography.partition import microaggregated
from sfumato.geography.partition_files import write_partition
from sfumato.plan import Plan
from sfumato.privacy import Bounded, ReplaceOne
from sfumato.query.report import report
from sfumato.synth import write

ROWS = 8_000
TEXT = pacsv.ConvertOptions(column_types=dict.fromkeys(["code", "label", "parent", "note", "made"], "string"))


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """The same city with fewer people: 158 clusters or so."""
    return write("iab", tmp_path_factory.mktemp("iab"), rows=ROWS).parent


def released(folder, name):
    plan = Plan.read(folder / f"{name}.toml")
    data = {"people": folder / "people.parquet", "members": folder / "areas" / "members.parquet"}
    run(plan, Microdata.open(data, plan.schema), None, folder / f"release-{name}", Options(rehearsal=1))
    return folder / f"release-{name}"


@pytest.fixture(scope="module")
def clusters(small):
    return released(small, "iab")


@pytest.fixture(scope="module")
def levels(small):
    return released(small, "iab-levels")


def true(folder, by, where="true"):
    """Counts of people by a column of where they live."""
    joined = " JOIN ".join(
        [f"'{folder}/people.parquet'"]
        + [f"'{folder}/{name}.parquet' USING (person_id)" for name in ("locations", "areas/members")]
    )
    query = f"SELECT {by}, count(*) FILTER (WHERE {where}) FROM {joined} GROUP BY {by}"
    return {str(code): count for code, count in duckdb.sql(query).fetchall()}


def test_totals_have_the_intervals_of_cells_that_are_twice_as_far_apart(small, clusters):
    # One person moves two cells, so that a cell has variance 2a / (1 - a)² with a = exp(-1/2): 7.835, and not 1.841. At
    # 853 clusters that makes intervals of 906.4 and 640.9 people, in place of 439.405 and 310.707.
    a = math.exp(-0.5)
    variance = 2 * a / (1 - a) ** 2
    assert round(variance, 3) == 7.835
    areas = len(true(small, "area"))
    for where, cells in (({"employed": "no"}, 8), ({"employed": "no", "foreign": "yes"}, 4), ({}, 188)):
        found = sf.open(clusters).total(where)
        assert found.cells == cells * areas
        assert found.noise_variance == pytest.approx(cells * areas * variance, rel=1e-9)
        low, high = found.interval(0.95)
        assert high - low == pytest.approx(2 * 1.959964 * math.sqrt(cells * areas * variance), abs=2)
    assert 2 * 1.959964 * math.sqrt(8 * 853 * variance) == pytest.approx(906.4, abs=0.05)
    assert 2 * 1.959964 * math.sqrt(8 * 853 * 1.841347) == pytest.approx(439.405, abs=5e-4)


def test_ratios_have_the_error_of_taylor_and_unstable_ones_are_no_number(small, clusters):
    engine, areas, variance = sf.open(clusters), len(true(small, "area")), 7.835
    found = engine.share({"employed": "no"})
    part, whole = engine.total({"employed": "no"}), engine.total({})
    ratio = part.value / whole.value
    taylor = (8 + ratio**2 * 188 - 2 * ratio * 8) * areas * variance / whole.value**2
    assert found.noise_variance == pytest.approx(taylor, rel=1e-3)
    first = min(true(small, "area"))
    with pytest.raises(QueryError, match=r"within its own noise of 0|came out below 0"):
        engine.share({"wage": "high"}, within={"area": first, "employed": "yes", "skill": "high"})
    shares = engine.table("area", "wage", {"employed": "yes", "skill": "medium"}, at={"area": "leaves"}).shares("row")
    columns, wholes = shares.columns(), shares.whole.columns()
    # Whole rows are refused where 1.96 standard errors of the row's own total are more than the total.
    near = wholes.estimate**2 <= 1.959964**2 * wholes.noise_variance
    assert np.isnan(columns.estimate).reshape(-1, 3).all(axis=1)[near].all()
    assert np.isnan(columns.estimate).any()
    assert not np.isnan(columns.estimate).all()


KINDS = [
    {"sex": sex, "foreign": foreign, "employed": employed}
    for sex in ("female", "male") for foreign in ("no", "yes") for employed in ("no", "yes")
]  # fmt: skip


def squares(folder, release, column, level):
    """Squared errors over stated variances, of eight kinds of people in every area of a level."""
    engine, found = sf.open(release), []
    for kind in KINDS:
        told = true(folder, column, " AND ".join(f"\"{name}\" = '{code}'" for name, code in kind.items()))
        table = engine.table("area", where=kind, at={"area": level}).columns()
        codes = engine.table("area", where=kind, at={"area": level}).axes[0].codes
        error = table.estimate - np.array([told[code] for code in codes])
        found.append(error**2 / table.noise_variance)
    return np.concatenate(found)


@pytest.mark.parametrize("name", ["clusters", "levels"])
def test_stated_errors_are_those_of_the_noise_at_every_level(name, small, request):
    # The mean of n squared standardised errors is 1 with standard deviation about sqrt(2.2 / n), as geometric noise
    # summed over many cells is nearly normal: six of these are 0.25 for the 1,270 or so of clusters (false alarm 1e-8
    # before the seed was fixed) and 1.4 for the 40 of postal codes. Variances 1.4 times too large or small are found.
    release = request.getfixturevalue(name)
    for column, level in (("area", "leaves"), ("postal_code", "@2")):
        found = squares(small, release, column, level)
        reach = 6 * math.sqrt(2.2 / len(found))
        assert abs(found.mean() - 1) < reach
        if level == "leaves":
            assert abs(found.mean() * 1.4 - 1) > reach
            assert abs(found.mean() / 1.4 - 1) > reach


def test_coarse_areas_are_exact_where_levels_were_measured_and_add_up(small, clusters, levels):
    city = [sf.open(one).total({"employed": "no"}).noise_variance for one in (clusters, levels)]
    areas = len(true(small, "area"))
    # Alone, a city's eight cells would have the noise of epsilon 0.1, twice: region and city are one here.
    alone = 2 * math.exp(-0.05) / (1 - math.exp(-0.05)) ** 2
    assert city[0] == pytest.approx(8 * areas * 7.835, rel=1e-3)
    assert city[1] < min(8 * alone / 2, city[0])
    engine = sf.open(levels)
    for level in ("@0", "@1", "@2", "leaves"):
        table = engine.table("area", "employed", at={"area": level})
        assert sum(table.columns().estimate) == engine.total({}).value


def test_an_area_outside_the_guarantee_is_listed_and_the_release_says_so(small, clusters):
    text = (small / "iab.toml").read_text(encoding="utf-8")
    bare = Plan.parse(text[: text.index("[[exposure]]")], small / "iab.toml")
    with pytest.raises(PromiseError, match="leaves 'area' outside the guarantee"):
        bare.price()
    manifest = json.loads((clusters / "manifest.json").read_text(encoding="utf-8"))
    assert "its area and the number of units are public" in json.dumps(manifest)
    assert manifest["exposures"][0]["kind"] == "assumed known"


SIZES = """
[[control]]
name = "sizes"
of = "people"
by = ["area"]
file = "areas/sizes.csv"

[[exposure]]
kind = "published"
what = "the sizes of areas"
why = "they follow from where everybody lives"

[[then]]
step = "least-squares"
name = "people_in_all"
table = "people"
to = ["sizes"]
"""


def test_sizes_of_areas_are_met_exactly_at_no_cost(small, tmp_path):
    plan = Plan.parse((small / "iab.toml").read_text(encoding="utf-8") + SIZES, small / "iab.toml")
    assert plan.price().total.words() == "epsilon 1"
    data = {"people": small / "people.parquet", "members": small / "areas" / "members.parquet"}
    engine = sf.QueryEngine(run(plan, Microdata.open(data, plan.schema), None, tmp_path / "r", Options(rehearsal=1)))
    table = engine.table("area", at={"area": "leaves"})
    found = dict(zip(table.axes[0].codes, table.columns().estimate.tolist(), strict=True))
    assert found == pytest.approx(true(small, "area"), abs=1e-6)  # to the step that tables are published in
    assert engine.total({}).noise_variance == 0
    assert 0 < engine.total({"employed": "no"}).noise_variance < 8 * len(true(small, "area")) * 7.835


@pytest.mark.parametrize("by", ["area", "area@2"])
def test_sizes_that_are_of_other_people_are_found_by_check_and_before_the_charge(small, tmp_path, by):
    kept = true(small, "area" if by == "area" else "postal_code")
    first, *others = sorted(kept)
    rows = [f"{first},{kept[first] + 3}", f"{others[0]},{kept[others[0]] - 3}", *(f"{n},{kept[n]}" for n in others[1:])]
    shutil.copytree(small, tmp_path / "city", ignore=shutil.ignore_patterns("release*"))
    (tmp_path / "city" / "areas" / "sizes.csv").write_text("area,value\n" + "\n".join(rows) + "\n")
    path = tmp_path / "city" / "sizes.toml"
    path.write_text((small / "iab.toml").read_text(encoding="utf-8") + SIZES.replace('["area"]', f'["{by}"]'))
    data = {"people": small / "people.parquet", "members": small / "areas" / "members.parquet"}
    written = [part for name, one in data.items() for part in ("--data", f"{name}={one}")]
    said = f"'sizes' has other totals than the data in 2 of {len(kept):,} cells"
    told = f"({first}: {kept[first] + 3:,}, in the data {kept[first]:,})"
    checked = command("check", path, *written)
    assert said in checked.stdout
    assert told in checked.stdout
    assert checked.returncode == 1
    opened = ["--population", "people", "--plan", path, "--epsilon", "1"]
    assert command("ledger", "open", tmp_path / "l", *opened).returncode == 0
    refused = command("run", path, *written, "--out", tmp_path / "r", "--ledger", tmp_path / "l")
    assert said in refused.stderr
    assert "No charges yet." in command("ledger", "show", tmp_path / "l").stdout


def test_totals_that_are_hidden_are_not_compared(small, tmp_path):
    """The negative arm: by employment they would tell of people, so a run takes them as they are."""
    (tmp_path / "out.csv").write_text("employed,value\nno,1\nyes,7999\n")
    hidden = SIZES.replace('["area"]', '["employed"]').replace("areas/sizes.csv", "out.csv")
    shutil.copytree(small, tmp_path, ignore=shutil.ignore_patterns("release*"), dirs_exist_ok=True)
    plan = Plan.parse((small / "iab.toml").read_text(encoding="utf-8") + hidden, tmp_path / "iab.toml")
    data = {"people": small / "people.parquet", "members": small / "areas" / "members.parquet"}
    with closing(Tabulation(plan, Microdata.open(data, plan.schema), SeededDraws(1))) as records:
        assert contradicted(plan, records) == []


def test_a_release_says_which_postal_codes_were_joined(small, tmp_path):
    located = read_locations(
        small / "locations.parquet", Located("person_id", ("east", "north"), ("postal_code", "city", "region"))
    )
    most = max(true(small, "postal_code").values())
    areas = microaggregated(located, most)
    assert areas.notes
    shutil.copytree(small, tmp_path / "city", ignore=shutil.ignore_patterns("release*", "areas"))
    write_partition(areas, tmp_path / "city" / "areas", {"method": FROM_LOCATIONS})
    folder = released(tmp_path / "city", "iab")
    notes = [level.note for level in areas.levels if level.note]
    told = pq.read_table(folder / "levels" / "area.parquet").to_pydict()
    assert notes
    assert [note for note in told["note"] if note] == notes
    for at in ("@2", "leaves"):  # of postal codes, and of clusters that lie in one
        assert notes[0] in command("table", folder, "--rows", "area", "--at", f"area={at}").stderr
    assert notes[0] not in command("table", folder, "--rows", "employed").stderr


def test_areas_that_were_made_from_addresses_hide_no_address(small):
    text = (small / "iab.toml").read_text(encoding="utf-8")
    for written, kind in (('neighbours = "add-remove"', "add-remove"), ('neighbours = "replace-one"', "replace-one")):
        moving = re.sub(r'neighbours = .*\nunit = "person"\nfixed = .*', f'{written}\nunit = "person"', text)
        with pytest.raises(PromiseError, match=f"{kind} would claim to hide it"):
            Plan.parse(moving, small / "iab.toml")
    report = small / "areas" / "partition.json"
    whole = report.read_bytes()
    report.write_bytes(whole[:20])
    with pytest.raises(PlanError, match="make them again"):
        Plan.read(small / "iab.toml")
    report.write_bytes(whole)


def as_topojson(features, path):
    """The same outlines in the format of shared arcs, one arc a ring here."""
    arcs = [ring for one in features for ring in one["geometry"]["coordinates"]]
    ends = np.cumsum([0, *(len(one["geometry"]["coordinates"]) for one in features)]).tolist()
    shapes = [
        {"type": "Polygon", "properties": one["properties"], "arcs": [[arc] for arc in range(start, end)]}
        for one, start, end in zip(features, ends, ends[1:], strict=False)
    ]
    objects = {"areas": {"type": "GeometryCollection", "geometries": shapes}}
    path.write_text(json.dumps({"type": "Topology", "objects": objects, "arcs": arcs}))


def as_shapefile(features, path):
    with shapefile.Writer(str(path)) as file:
        file.field("code", "C", 20)
        file.field("made", "C", 40)
        for one in features:
            file.poly(one["geometry"]["coordinates"])
            file.record(one["properties"]["code"], one["properties"]["made"])


OUTLINED = {"areas.geojson": None, "areas.topojson": as_topojson, "areas.shp": as_shapefile}


@pytest.mark.parametrize("copied", ["areas.csv", "areas.parquet", *OUTLINED])
def test_areas_that_were_made_from_addresses_are_known_wherever_their_files_go(small, tmp_path, copied):
    written = pacsv.read_csv(small / "areas" / "areas.csv", convert_options=TEXT)
    kept = ["code", "label", "parent", "note"]
    if copied == "areas.parquet":
        pq.write_table(written, tmp_path / copied)
    elif copied == "areas.csv":
        shutil.copy(small / "areas" / copied, tmp_path)
    else:  # a list of one's own, and the outlines as they are, or in another format
        outlines = small / "areas" / "areas.geojson"
        as_other = OUTLINED[copied] or (lambda _, path: shutil.copy(outlines, path))
        as_other(json.loads(outlines.read_text())["features"], tmp_path / copied)
        pacsv.write_csv(written.select(kept), tmp_path / "areas.csv")
    named = copied if copied not in OUTLINED else "areas.csv"
    text = re.sub(r"areas/areas.csv", named, (small / "iab.toml").read_text(encoding="utf-8"))
    text = text.replace("areas/areas.geojson", copied if copied in OUTLINED else "areas.geojson")
    moving = re.sub(r'neighbours = .*\nunit = "person"\nfixed = .*', 'neighbours = "add-remove"\nunit = "person"', text)
    with pytest.raises(PromiseError, match="add-remove would claim to hide it"):
        Plan.parse(moving, tmp_path / "iab.toml")
    Plan.parse(text, tmp_path / "iab.toml")


def test_the_audit_holds_for_two_cells_and_fails_for_one(small, monkeypatch):
    # The claim of a histogram that one person leaves one cell of and enters another of; seeded draws.
    text = (small / "iab.toml").read_text(encoding="utf-8")
    coarse = re.sub(r"by = .*", 'by = ["area@1", "sex", "employed"]', text)
    plan = Plan.parse(coarse, small / "iab.toml")
    move = plan.move(plan.measures[0])
    assert (move.l1, move.cells) == (2, 2)
    assert all(one.holds for one in audit_plan(plan, samples=20_000, draws=SeededDraws(1)))
    monkeypatch.setattr(ReplaceOne, "move", lambda *_: Bounded(cells=1, l1=1, l2_squared=1, largest=1))
    assert plan.price().total.words() == "epsilon 1"  # the same claim, with noise for one cell
    assert not all(one.holds for one in audit_plan(plan, samples=20_000, draws=SeededDraws(1)))


def test_a_notebook_and_a_report_draw_the_map_that_the_page_draws(clusters, levels):
    engine = sf.open(clusters)
    wages = {"employed": "yes", "skill": "medium"}
    share = engine.table("area", "wage", wages, at={"area": "leaves"}).shares("row").map("high")
    asked = "rows=area&cols=wage&codelist[area]=leaves&sum[employed]=yes&sum[skill]=medium&share=row&of=high&view=map"
    shown = page(clusters, f"/iab~people?{asked}")
    for one in ("the ratio could be anything", "hatched: grade C", "no number"):
        assert one in share._repr_html_()
        assert one in shown.text
    outlines = re.findall(r'd="(M[0-9 ]+Z)"', share.svg)
    assert len(set(outlines)) == len(engine.table("area", at={"area": "leaves"}).axes[0].codes)
    assert set(outlines) <= {told.get("d") for tag, told in shown.elements if tag == "path"}
    with pytest.raises(QueryError, match="name one column"):
        engine.table("area", "employed").map()
    with pytest.raises(QueryError, match="variables that have some: area"):
        engine.table("sex").map()
    fine = sf.open(levels)
    told = report(fine, "employed", "no")
    assert "Not employed" in told
    assert "People by area and unemployment benefits" in told, "they have no distance to work, so that is no column"
    assert told.count('class="pic-grid"') == 1
    assert not re.search(r'(src|href)="(?!#)', told), "nothing is loaded from anywhere"
    below = report(fine, "area", "90762")
    codes = [code for code in fine.release.attributes[0].levels.codes if code.startswith("90762-")]
    assert all(fine.release.shapes["area"].outlines[code] in below for code in codes)


def test_a_map_of_shares_hatches_what_is_rough_and_leaves_out_what_is_unstable(clusters, levels):
    asked = "rows=area&cols=wage&codelist[area]={}&sum[employed]=yes&sum[skill]=medium&share=row&of=high&view=map"
    fine = page(clusters, f"/iab~people?{asked.format('leaves')}")
    assert "the ratio could be anything" in fine.text
    assert "no number" in fine.text
    assert "hatched: grade C" in fine.text
    coarse = page(levels, f"/iab-levels~people?{asked.format('level2')}")
    assert "the ratio could be anything" not in coarse.text
    assert "90768" in coarse.text
    assert "made from locations" in coarse.text
