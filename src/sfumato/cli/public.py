"""Commands for anyone: verify, compare, take and serve releases; nothing here needs the confidential folder."""

import gc
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sfumato.cli.options import Folder, Json
from sfumato.cli.output import note, say, say_json
from sfumato.errors import QueryError, ReleaseError, how_many

if TYPE_CHECKING:
    from sfumato.query import Estimate, QueryEngine


def verify(
    folder: Folder,
    public_key: Annotated[Path | None, typer.Option(help="An Ed25519 public key in PEM.")] = None,
    id: Annotated[str | None, typer.Option(help="The id that the release should have, as it was announced.")] = None,  # noqa: A002
    beside: Annotated[
        list[Path] | None, typer.Option(help="Another release about the same population: both must add up; repeatable.")
    ] = None,
    json: Json = False,
) -> None:
    """Compare a release with its manifest, its signature, its announced id and other accounts; or a certificate."""
    from sfumato.release import verify as compare
    from sfumato.release.certificate import certified, stands_alone

    if stands_alone(folder):
        said, wrong = certified(folder, None, public_key)
        _say_certificate(folder, said, wrong, json)
        return
    verdict = compare(folder, public_key)
    problems = [*verdict.problems, *_unaccounted([folder, *(beside or [])])]
    if id and not verdict.id.startswith(id.lower()):
        problems.append(f"The release has the id {verdict.id[:16]}…, not {id[:16]}…: it is another release.")
    if json:
        say_json({"id": verdict.id, "intact": not problems, "problems": problems, "signature": verdict.signed,
                  "releasable": verdict.releasable, "why": verdict.why, "withdrawn": verdict.withdrawn,
                  "caveats": verdict.caveats, "certificate": verdict.certificate})  # fmt: skip
    else:
        say(f"Release {verdict.id}: {verdict.signed}.")
        say(f"{'Releasable' if verdict.releasable else 'NOT releasable'}: {verdict.why}.")
        if verdict.withdrawn:
            say(f"WITHDRAWN: {verdict.withdrawn}")
        for caveat in verdict.caveats:
            say(caveat)
        if verdict.certificate:
            say(f"Certificate: {verdict.certificate}")
        for problem in problems:
            say(f"Problem: {problem}")
    if problems:
        raise ReleaseError(f"{folder} is not what was published.")
    if not json:
        say("Every file is as the manifest says.")


def _unaccounted(folders: list[Path]) -> list[str]:
    """What cannot be true together of the accounts that releases give, each population's added up."""
    from sfumato.query.accounts import accounts
    from sfumato.query.histories import Stated, histories
    from sfumato.release import read_manifest

    manifests = dict(map(read_manifest, folders))
    stated = (Stated.read(name, manifest) for name, manifest in manifests.items())
    found = accounts(histories(one for one in stated if one))
    return list(dict.fromkeys(said.english() for account in found for said in account.problems))


def _say_certificate(folder: Path, said: str, wrong: list[str], json: bool) -> None:
    if json:
        say_json({"certificate": said, "intact": not wrong, "problems": wrong})
    else:
        say("\n".join([f"Certificate: {said}", *(f"Problem: {one}" for one in wrong)]))
    if wrong:
        raise ReleaseError(f"The certificate in {folder} proves nothing.")


def diff(
    one: Annotated[Path, typer.Argument(metavar="DIR")],
    other: Annotated[Path, typer.Argument(metavar="DIR")],
    json: Json = False,
) -> None:
    """Say what changed between two releases."""
    from sfumato.query import QueryEngine
    from sfumato.release import differences, open_release

    before, after = open_release(one), open_release(other)
    said = differences(before, after)
    if before.id != after.id:
        said += _changes(QueryEngine(before), QueryEngine(after))
    if json:
        say_json(said)
    else:
        say("\n".join(said) if said else "The two releases say the same.")


def _changes(before: "QueryEngine", after: "QueryEngine") -> list[str]:
    """How far the whole of each statistic moved, beside the noise that both releases hold."""
    said = []
    for name in before.statistics:
        if name in after.statistics:
            try:
                said.append(_moved(name, before.total(of=name), after.total(of=name)))
            except QueryError as error:
                said.append(f"{name}: how far the whole changed is not told: {error}")
    return said


def _moved(name: str, one: "Estimate", other: "Estimate") -> str:
    from sfumato.query import number
    from sfumato.query.comparison import difference_of
    from sfumato.release import Withheld

    moved = f"{name}: the whole changed by {number(other.value - one.value)}"
    margin = difference_of(other, one, 0.0, (0.0, 0.0)).moe()
    return (
        moved if isinstance(margin, Withheld) or not margin else f"{moved}; noise alone gives ± {number(margin)} (90%)"
    )


def withdraw(folder: Folder, why: Annotated[str, typer.Option(help="The reason, as readers will see it.")]) -> None:
    """Mark a release as no longer to be used, with the reason."""
    from sfumato.release import withdraw as mark

    mark(folder, why)
    say(f"{folder} is marked as withdrawn: {why}")
    _say_keys(folder)


def _say_keys(folder: Path) -> None:
    """By which keys a cache in front of a server forgets what a withdrawal changes, if the manifest can be read."""
    from sfumato.errors import ReleaseError
    from sfumato.release.manifest import NAME, Manifest
    from sfumato.serve.purging import keys_of

    try:
        series = Manifest.from_bytes((folder / NAME).read_bytes()).name
    except (ReleaseError, OSError):
        return
    say(f"Readers see it within a minute; at once where a cache is told to forget {' and '.join(keys_of(series))}.")


def microdata(
    folder: Folder,
    out: Annotated[Path, typer.Option(help="The file to write: .parquet or .csv, of tables also Stata's .dta.")],
    of: Annotated[
        str | None, typer.Option(help="The table of counts to make records of, where there are several.")
    ] = None,
    replicates: Annotated[
        int, typer.Option(help="Replicates of each value or weight, for errors of any total; 0 for none.")
    ] = 20,
) -> None:
    """Write protected microdata and a page on how to use them: a row a unit with its values, or weighted records."""
    import sfumato
    from sfumato.query.rows import write_rows

    answers = sfumato.open(folder)
    for warning in answers.warnings():
        note(warning)
    rows = write_rows(answers, out, replicates, _told, of)
    say(f"{out}: {how_many(rows, 'row')}. How to use them: {out}.README.txt")
    if of is not None and of not in answers.statistics:
        note(f"'{of}' answers no table of this release, so that totals of these records are others.")


def _told(done: int, of: int) -> None:
    if sys.stderr.isatty():
        sys.stderr.write(f"\r{done:,} of {of:,} rows{'' if done < of else chr(10)}")


def serve(  # noqa: PLR0913, PLR0917 - each is an option of the command
    folders: Annotated[list[Path], typer.Argument(metavar="DIR…", help="Folders of releases.")],
    host: Annotated[str, typer.Option(help="The address to listen on; 0.0.0.0 for every one.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="The port to listen on.")] = 8000,
    base_path: Annotated[str, typer.Option(help="The path behind a proxy, for example /statistics.")] = "",
    origin: Annotated[
        str,
        typer.Option(
            help="Where readers reach it, for citations and the API: https://statistics.example. Else as asked."
        ),
    ] = "",
    allow_host: Annotated[
        list[str] | None,
        typer.Option(help="A further name to answer to, beside the origin's and this machine's own; repeatable."),
    ] = None,
    workers: Annotated[
        int, typer.Option(help="Processes that answer; they share the releases in memory. One a core is plenty.")
    ] = 1,
    at_most: Annotated[
        int, typer.Option(help="Questions that may wait in each worker; more are told to come back (503).")
    ] = 64,
    per_client: Annotated[
        int, typer.Option(help="Requests that one client may make in 10 seconds, then 429; 0 for no limit.")
    ] = 500,
    proxy: Annotated[
        list[str] | None,
        typer.Option(help="A reverse proxy whose X-Forwarded-For is believed: 127.0.0.1 or 10.0.0.0/8; repeatable."),
    ] = None,
    cache_mb: Annotated[int, typer.Option(help="Megabytes of answers that each worker keeps; 0 keeps none.")] = 64,
    log: Annotated[
        bool, typer.Option("--log", help="Write a line a request to stderr, without the question or who asked.")
    ] = False,
    log_questions: Annotated[bool, typer.Option("--log-questions", help="Log what was asked, too.")] = False,
    log_clients: Annotated[bool, typer.Option("--log-clients", help="Log the address of who asked, too.")] = False,
) -> None:
    """Show releases as a table builder in the browser, and as JSON.

    Stops on Ctrl-C or SIGTERM: it takes no new request, finishes what runs, and ends within 10 seconds.
    """
    from sfumato.release.footprint import opened_memory
    from sfumato.serve import serve as listen
    from sfumato.serve.limits import MEBIBYTE, Limits, Log, Running

    # What is loaded stays: the search for cycles after the releases are opened, here and in each worker, leaves it out.
    gc.freeze()
    believed, kept = tuple(proxy or ()), cache_mb * MEBIBYTE
    limits = Limits(waiting=at_most, calls=per_client, window=10, cache_bytes=kept, proxies=believed)
    lines = Log(log_questions, log_clients) if log or log_questions or log_clients else None
    running = Running(limits, lines, origin=origin, hosts=tuple(allow_host or ()))
    memory = opened_memory(folders, workers * kept)
    note(f"To serve: {memory.words()}.")
    memory.refuse_over(error=ReleaseError)
    listen(folders, host, port, base_path, _say_where, workers=workers, running=running)


def _say_where(url: str) -> None:
    note(f"Serving at {url} (stop with Ctrl-C)")
    if "/s-" in url:
        note("A release there is not for publication: the address holds a key, so keep the address to yourself.")
