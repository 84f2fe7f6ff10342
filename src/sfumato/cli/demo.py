"""`sfumato demo`: synthetic microdata, a plan, a ledger, a release and the query tool, end to end."""

import json
import shutil
import socket
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sfumato.cli.output import note, progress, say
from sfumato.errors import ReleaseError, how_many

if TYPE_CHECKING:
    from sfumato.plan import Plan
    from sfumato.plan.geography import Geography
    from sfumato.release import Translation
    from sfumato.synth.qcew_codes import Level

MARK = ".sfumato-demo"
QUARTERS = {"2026-Q1": 1.0, "2026-Q2": 0.985, "2026-Q3": 1.004}
"""How many jobs each quarter has, as a share of the first."""
LINKED = 20_000
"""Jobs of the linked data of employers and employees."""
RESIDENTS = 10_000
"""People of the city whose neighbourhoods are mapped."""
GRADUATES = 40_000
"""Graduates whose earnings are told by percentiles."""
STATE = "44", "Rhode Island"
"""The state whose counties the register has, where a package draws them."""
REGISTER = 3_000
"""Establishments of the register of which tables have cells withheld."""


def demo(
    check: Annotated[bool, typer.Option("--check", help="Ask one query over HTTP and exit.")] = False,
    folder: Annotated[Path, typer.Option(help="Where to work; an earlier demo there is replaced.")] = Path("demo"),
    rows: Annotated[int, typer.Option(help="How many quotes to make.")] = 100_000,
    port: Annotated[int, typer.Option(help="The port to serve on.")] = 8000,
) -> None:
    """Make synthetic microdata, protect them, and serve the query tool on what may be published."""
    releases = _made(folder, rows)
    if check:
        _ask_once(releases)
        return
    from sfumato.serve import serve

    serve(
        releases, port=port, next_free=True, ready=lambda url: say(f"\nThe query tool is at {url} (stop with Ctrl-C)")
    )


def _made(folder: Path, rows: int) -> list[Path]:
    """The releases of the demo: a survey, assessed, quarters of jobs, linked jobs, a city, earnings, suppression."""
    _emptied(folder)
    made = [_survey(folder, rows), *_quarters(folder, rows), _linked(folder), _city(folder), _earnings(folder)]
    return [*made, _suppressed(folder)]


def _survey(folder: Path, rows: int) -> Path:
    """The release of the survey's plan, with its data and its ledger beside it."""
    from sfumato.confidential import Account, Microdata, Options, run, stages
    from sfumato.synth import write

    plan = _plan("ors")
    bill = plan.price()
    note(f"Making {rows:,} synthetic quotes of an establishment survey in {folder}")
    data = write("ors", folder, rows)
    ledger = folder / "establishments.ledger"
    Account.create(ledger, "synthetic establishments", plan.hidden, plan.limit)
    note(
        f"Protecting them: {plan.title}, {bill.total.words()}, {how_many(sum(bill.cells), 'cell')}, empty ones included"
    )
    with progress(stages(plan)) as show:
        run(plan, Microdata.open(data, plan.schema), ledger, folder / "release", Options(progress=show))
    note(f"Released to {folder / 'release'}; the data and the ledger beside it stay inside the agency")
    _assessed(plan, data, folder)
    return folder / "release"


def _quarters(folder: Path, rows: int) -> list[Path]:
    """A series of releases about the same jobs, charged to one ledger."""
    from sfumato.confidential import Account, Microdata, run
    from sfumato.privacy import Approximate
    from sfumato.synth import write

    plan, ledger, made = _outlined(_plan("employment"), folder), folder / "jobs.ledger", []
    Account.create(ledger, "synthetic jobs", plan.hidden, Approximate(len(QUARTERS) * 2))
    note(f"Making and protecting about {rows:,} synthetic jobs in each of {len(QUARTERS)} quarters: {plan.title}")
    for quarter, share in QUARTERS.items():
        data = write("employment", folder / f"jobs-{quarter}", round(share * rows))
        made.append(folder / f"release-jobs-{quarter}")
        run(replace(plan, period=quarter), Microdata.open(data, plan.schema), ledger, made[-1])
    return made


def _outlined(plan: "Plan", folder: Path) -> "Plan":
    """The plan with the true outlines of states where a package has them, else with those that are made up."""
    from sfumato.synth.census_outlines import SOURCE, STATES, WITHOUT, beside

    file = beside(folder, STATES)
    if not file:
        note(WITHOUT)
        return plan
    note(f"Drawing states as they are: {SOURCE}, from the package plotly-geo")
    drawn = (replace(one, file=file, id="STUSPS", source=SOURCE, folder=folder) for one in plan.geographies)
    return replace(plan, geographies=tuple(drawn))


def _linked(folder: Path) -> Path:
    """The release of jobs that link workers and workplaces, joined from three tables."""
    from sfumato.confidential import Account, Microdata, run
    from sfumato.plan import Plan
    from sfumato.synth import write

    note(f"Making {LINKED:,} synthetic jobs that link workers and workplaces, and hiding the size of every employer")
    plan = _made_up(Plan.read(write("lodes", folder / "linked", LINKED)))
    Account.create(folder / "employers.ledger", "synthetic employers", plan.hidden, plan.limit)
    tables = {name: folder / "linked" / f"{name}.parquet" for name in plan.schema.tables}
    out = folder / "release-linked"
    run(plan, Microdata.open(tables, plan.schema), folder / "employers.ledger", out)
    return out


def _city(folder: Path) -> Path:
    """The release of a city by neighbourhood, which a partition has made from where people live."""
    from sfumato.confidential import Account, Microdata, run
    from sfumato.plan import Plan
    from sfumato.synth import write

    note(f"Making a city of {RESIDENTS:,} synthetic people, clusters of at least 50 of them, and a map of their work")
    plan = _made_up(Plan.read(write("iab", folder / "city", RESIDENTS).with_name("iab-levels.toml")))
    Account.create(folder / "people.ledger", "synthetic people", plan.hidden, plan.limit)
    tables = {"people": folder / "city" / "people.parquet", "members": folder / "city" / "areas" / "members.parquet"}
    out = folder / "release-city"
    run(plan, Microdata.open(tables, plan.schema), folder / "people.ledger", out)
    return out


def _earnings(folder: Path) -> Path:
    """The release of percentiles of earnings, with ranks, from noisy counts by bands."""
    from sfumato.confidential import Account, Microdata, run
    from sfumato.plan import Plan
    from sfumato.synth import write

    note(f"Making {GRADUATES:,} synthetic graduates of colleges, and percentiles of what they earn")
    plan = _made_up(Plan.read(write("pseo", folder / "graduates", GRADUATES)))
    out = folder / "release-earnings"
    data = folder / "graduates" / "pseo.parquet"
    Account.create(folder / "graduates.ledger", "synthetic graduates", plan.hidden, plan.limit)
    run(plan, Microdata.open(data, plan.schema), folder / "graduates.ledger", out)
    return out


def _suppressed(folder: Path) -> Path:
    """A release as agencies make them today, with cells withheld; it promises nothing, and every page says so."""
    from sfumato.confidential import Account, Microdata, run
    from sfumato.plan import Plan
    from sfumato.privacy import Gaussian
    from sfumato.synth.qcew import write_qcew

    note(f"Making a register of {REGISTER:,} synthetic establishments, and tables of it with cells withheld, as today")
    home, (counties, drawn) = folder / "register", _counties(folder / "register")
    plan = Plan.read(write_qcew(home, REGISTER, named=counties).with_name("qcew-suppressed-2026q1.toml"))
    plan = _made_up(replace(plan, geographies=drawn))
    assert plan.suppress is not None  # noqa: S101 - it is what the plan is
    translations = {tag: _without_wages(translation) for tag, translation in plan.translations.items()}
    suppress = replace(plan.suppress, measures=plan.suppress.measures[:1])
    jobs = replace(plan, measures=(), suppress=suppress, translations=translations)
    ledger, data = folder / "register.ledger", folder / "register" / "qcew-2026q1.parquet"
    Account.create(ledger, "synthetic register", jobs.hidden, Gaussian("2.3066"))
    run(jobs, Microdata.open(data, jobs.schema), ledger, folder / "release-suppressed")
    return folder / "release-suppressed"


def _without_wages(translation: "Translation") -> "Translation":
    """The texts of a language without those of the wages, which the demo leaves out."""
    titles = {title: text for title, text in translation.titles.items() if not title.startswith("Wages")}
    units = {unit: text for unit, text in translation.units.items() if unit != "dollars"}
    return translation.model_copy(update={"titles": titles, "units": units})


def _counties(folder: Path) -> tuple[list["Level"], tuple["Geography", ...]]:
    """The counties of a small state and the file that draws them, where a package has them; else none."""
    from sfumato.plan.geography import Geography
    from sfumato.synth.census_outlines import COUNTIES, SOURCE, beside, counties_of

    file = beside(folder, COUNTIES)
    if not file:
        return [], ()
    drawn = Geography("county", file, "GEOID", source=SOURCE, folder=folder)
    return counties_of(folder / file, *STATE), (drawn,)


def _plan(name: str) -> "Plan":
    from sfumato.plan import Plan
    from sfumato.plan.toml import SHIPPED

    return _made_up(Plan.read(SHIPPED / f"{name}.toml"))


def _made_up(plan: "Plan") -> "Plan":
    """The plan with the notice that its data are synthetic, which every page and file of its release then says."""
    from sfumato.synth import MADE_UP

    return replace(plan, synthetic=MADE_UP)


def _assessed(plan: "Plan", data: Path, folder: Path) -> None:
    """The agency's own look at risk and utility, linked here and nowhere on the public page."""
    from sfumato.cli.private_file import written_privately
    from sfumato.confidential import Microdata
    from sfumato.confidential.assessment import STAGES, ReportRules, assess

    report = (folder / "assessment.html").absolute()
    rules = ReportRules.read(plan)
    with progress(STAGES) as show:
        found = assess(plan, Microdata.open(data, plan.schema), folder / "release", rules, progress=show)
    written_privately(report, found.to_html())
    note(f"Risk and utility against the true data, confidential: {report.as_uri()}")


def _emptied(folder: Path) -> None:
    if folder.exists() and any(folder.iterdir()) and not (folder / MARK).exists():
        raise ReleaseError(f"{folder} holds something that is not a demo; choose another --folder.")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    (folder / MARK).touch()


def _ask_once(releases: list[Path]) -> None:
    """Start the server as a user would, ask it one query over HTTP, compare with the release, and stop it."""
    import sfumato

    command = [sys.executable, "-m", "sfumato", "serve", *map(str, releases), "--port", str(_free_port())]
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)  # noqa: S603
    try:
        base = _address(server)
        listed = _get(f"{base}/api/v2/tables")["tables"]
        tables = [one for one in listed if one["id"].startswith("ors~")]
        answer = _get(f"{base}/api/v2/tables/{tables[0]['id']}/data")
    finally:
        server.terminate()
        server.wait(20)
    expected = sfumato.open(releases[0]).total(of=tables[0]["id"].split("~")[1])
    if answer["value"][0] != expected.value:
        raise ReleaseError("The server's answer is not the release's; the demo failed.")
    say(f"Asked over HTTP: {expected!r} {expected.unit} in all. The demo works.")


def _free_port() -> int:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        port: int = listening.getsockname()[1]
        return port


def _address(server: "subprocess.Popen[str]") -> str:
    assert server.stderr is not None  # noqa: S101 - opened with a pipe
    for line in server.stderr:
        if "Serving at " in line:
            return line.split("Serving at ")[1].split()[0].rstrip("/")
    raise ReleaseError(f"The server stopped before it served (exit code {server.wait()}).")


def _get(url: str) -> Any:
    """The answer of a server that has said that it serves."""
    from urllib.request import urlopen

    try:
        with urlopen(url, timeout=20) as answer:  # noqa: S310 - loopback
            return json.load(answer)
    except OSError:
        raise ReleaseError(f"The server did not answer at {url}.") from None
