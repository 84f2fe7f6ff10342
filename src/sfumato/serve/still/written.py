"""A site on disk: every page and file that the application gives, beside the releases themselves."""

import os
import shutil
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path, PurePosixPath
from urllib.parse import quote, urlsplit

from sfumato.errors import ReleaseError
from sfumato.query.wording import languages
from sfumato.serve.app import keyed, over
from sfumato.serve.catalogue import Catalogue
from sfumato.serve.editions import Edition
from sfumato.serve.limits import Limits, Running
from sfumato.serve.pages.look import Look
from sfumato.serve.pages.site import Pages
from sfumato.serve.still.asking import ask
from sfumato.serve.still.places import Key, Place, key_of, places_of
from sfumato.serve.still.rewriting import rewritten

RELEASES = "releases"
"""The folder that holds the files of every release, as they were published."""


@dataclass(frozen=True)
class Site:
    """What was written: how many pages and other files, and which pages could not be made, as too large tables."""

    pages: int
    files: int
    left_out: tuple[str, ...]


def write_site(
    folders: Sequence[Path | str],
    out: Path,
    address: str,
    lang: str | Sequence[str] = "en",
    progress: Callable[[int, int], None] = lambda done, of: None,  # noqa: ARG005 - silence
) -> Site:
    """Write the pages of releases as files that need no server, to lie at an address such as https://agency.example/x.

    Of several languages the first lies at the address itself and each other below it, in a folder of its name; every
    page leads to itself in the others. The folder gets its name when all is written.
    """
    spoken = [lang] if isinstance(lang, str) else list(dict.fromkeys(lang))
    if out.exists():
        raise ReleaseError(f"{out} is there already; name a folder that is not.")
    for one in spoken:
        if one not in languages():
            raise ReleaseError(f"There is no language '{one}'; there are {', '.join(languages())}.")
    catalogue = Catalogue.open(folders)
    for edition in catalogue.editions:
        if edition.private:
            raise ReleaseError(
                f"The release {edition.release.folder} is not for publication ({edition.release.manifest.why}), and a "
                "site is: leave it out."
            )
    out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=out.parent, prefix=f".{out.name}-") as folder:
        sites = [_Writing(catalogue, Path(folder) / "site", address, spoken, one).all(progress) for one in spoken]
        os.replace(Path(folder) / "site", out)  # noqa: PTH105 - a whole folder at once
    left_out = tuple(dict.fromkeys(name for site in sites for name in site.left_out))
    return Site(sum(site.pages for site in sites), sum(site.files for site in sites), left_out)


class _Writing:
    """One site while it is written."""

    def __init__(self, catalogue: Catalogue, folder: Path, address: str, spoken: Sequence[str], lang: str) -> None:
        self.spoken, self.lang = spoken, lang
        self.inside = "" if lang == spoken[0] else lang
        parts = urlsplit(f"{address.rstrip('/')}/{self.inside}" if self.inside else address)
        self.catalogue, self.folder, self.host = catalogue.in_language(lang), folder / self.inside, parts.netloc
        self.base = keyed(parts.path, "")
        self.origin = f"{parts.scheme}://{parts.netloc}"
        running = Running(Limits(calls=0), origin=self.origin, still=True)
        self.application = over(catalogue, self.base, running)
        pages = Pages(catalogue, self.base)
        plain = [name for name in pages.static if not name.endswith(".js")]
        self.assets = {f"{self.base}/static/{pages.look}/{name}": f"static/{name}" for name in plain}
        self.words = Look(lang=lang).words

    def all(self, progress: Callable[[int, int], None]) -> Site:
        places = [*places_of(self.catalogue, self.base, self.lang)]
        replies, left_out = dict[Place, bytes](), list[str]()
        for done, place in enumerate(places, 1):
            reply = ask(self.application, self.host, place.address)
            if reply.status == 200:
                replies[place] = reply.body
            elif place.is_page:
                left_out.append(place.title or place.file)
            progress(done, len(places))
        files = self._files(replies)
        for place, body in replies.items():
            page = self._page(place, body, files, replies) if place.is_page else body
            self._write(place.file, page)
        for address, file in self.assets.items():
            self._write(file, ask(self.application, self.host, address).body)
        copied = 0 if self.inside else sum(map(self._copied, self.catalogue.editions))
        pages = sum(place.is_page for place in replies)
        return Site(pages, len(replies) - pages + len(self.assets) + copied, tuple(dict.fromkeys(left_out)))

    def _files(self, replies: Iterable[Place]) -> dict[Key, str]:
        """Where every address lies; that of a statistic alone is its first table, and a lasting one is the same."""
        files = {key_of(address): file for address, file in self.assets.items()}
        for place in replies:
            files.setdefault(key_of(place.address), place.file)
            if place.sheet and place.is_page:
                lasting = f"{self.base}/{quote(place.sheet.lasting_id, safe='~')}"
                files.setdefault(key_of(f"{lasting}?{urlsplit(place.address).query}"), place.file)
                for path in (lasting, f"{self.base}/{quote(place.sheet.id, safe='~')}"):
                    files.setdefault(key_of(path), place.file)
        return files

    def _page(self, place: Place, body: bytes, files: Mapping[Key, str], among: Iterable[Place]) -> bytes:
        here = PurePosixPath(place.file).parent

        def found(address: str) -> str | None:
            path, hash_, part = address.partition("#")
            file = files.get(key_of(path))
            return f"{quote(os.path.relpath(file, here))}{hash_}{quote(part)}" if file else None

        page = rewritten(self._cited(place, body.decode()), found, self._tables(place, among, here))
        return page.replace("</footer>", f"{self._tongues(place, here)}</footer>", 1).encode()

    def _tongues(self, place: Place, here: PurePosixPath) -> str:
        """Links to the same page in the other languages of the site."""
        if len(self.spoken) == 1:
            return ""
        parts = []
        for code, name in ((code, languages()[code]) for code in self.spoken):
            folder = "" if code == self.spoken[0] else code
            file = quote(os.path.relpath(PurePosixPath(folder) / place.file, PurePosixPath(self.inside) / here))
            link = f'<a href="{file}" hreflang="{code}" lang="{code}">{escape(name)}</a>'
            parts.append(f'<b lang="{code}">{escape(name)}</b>' if code == self.lang else link)
        return f'<p class="tongues">{escape(self.words("site.languages"))}: {" · ".join(parts)}</p>'

    def _cited(self, place: Place, page: str) -> str:
        """The page with the address of its file where it says how it is cited."""
        if place.sheet is None:
            return page
        asked = f"{self.base}/{quote(place.sheet.lasting_id, safe='~')}?{urlsplit(place.address).query}"
        return page.replace(escape(f"{self.origin}{asked}"), f"{self.origin}{self.base}/{quote(place.file)}")

    def _tables(self, place: Place, among: Iterable[Place], here: PurePosixPath) -> str:
        """The list of a statistic's tables, which stands where the server has a form to build any."""
        if place.sheet is None:
            return ""
        files = dict[str, str]()
        for one in among:
            if one.sheet is place.sheet and one.is_page:
                files.setdefault(one.title, quote(os.path.relpath(one.file, here)))
        del files[place.title]
        listed = "".join(f'<li><a href="{file}">{escape(title)}</a></li>' for title, file in files.items())
        kept = f"{RELEASES}/{place.sheet.edition.lasting}/manifest.json"
        whole = quote(os.path.relpath(kept, PurePosixPath(self.inside) / here))
        title, words = map(escape, (self.words("still.tables"), self.words("still.files")))
        return f'<nav class="others" aria-label="{title}"><ul>{listed}</ul><p><a href="{whole}">{words}</a></p></nav>'

    def _write(self, file: str, body: bytes) -> None:
        path = self.folder / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(body)

    def _copied(self, edition: Edition) -> int:
        """The files of a release as they were published, which anybody can verify and open; how many."""
        source, to = edition.release.folder, self.folder / RELEASES / edition.lasting
        assert source is not None  # noqa: S101 - every release of a site was opened from its folder
        shutil.copytree(source, to)
        return sum(one.is_file() for one in to.rglob("*"))
