"""The letters of the pages: three faces from two font packages, cut to what the pages write, under names of our own.

Run as `python checks/letters.py FOLDER` where there is a network; it makes an environment in FOLDER, and writes
`src/sfumato/serve/static/*.woff2` and the licence beside them. The same packages give the same bytes.

The licence of the fonts (SIL OFL 1.1) reserves the name 'Source': a font that was changed may not be called so.
"""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
STATIC = ROOT / "src" / "sfumato" / "serve" / "static"
PACKAGES = ("font-source-sans-pro==0.0.1", "font-source-serif-pro==0.0.1", "fonttools==4.68.0", "brotli==1.2.1")
FACES = {
    "sans": ("font_source_sans_pro", "SourceSansPro-Regular.ttf", "Sfumato Sans", "Regular"),
    "sans-bold": ("font_source_sans_pro", "SourceSansPro-Semibold.ttf", "Sfumato Sans", "Semibold"),
    "serif-bold": ("font_source_serif_pro", "SourceSerifPro-Semibold.ttf", "Sfumato Serif", "Semibold"),
}
LETTERS = (
    "U+0020-007E,U+00A0-017F,U+0218-021B,U+02C6-02DD,U+1E9E,"
    "U+2009-2026,U+202F-203A,U+20AC,U+2190-2193,U+2212,U+221A,U+2264-2265"
)
"""Latin of the European languages, the signs of arithmetic, arrows and thin spaces; others come from the machine."""
FEATURES = "kern,mark,mkmk,liga,ccmp,locl,tnum,lnum"

# Runs in an environment that has fonttools, which the project's own has not.
CUT = """
import sys
from fontTools import subset
from fontTools.ttLib import TTFont
source, target, family, style, letters, features = sys.argv[1:]
font = TTFont(source, recalcTimestamp=False)
cutter = subset.Subsetter(subset.Options(layout_features=features.split(","), name_IDs=[0, 1, 2, 3, 4, 5, 6, 13, 14],
                                         hinting=False, notdef_outline=True))
cutter.populate(unicodes=subset.parse_unicodes(letters))
cutter.subset(font)
named = {1: family if style == "Regular" else f"{family} {style}", 2: "Regular", 3: f"{family} {style}; cut",
         4: f"{family} {style}", 6: f"{family.replace(' ', '')}-{style}"}
for record in font["name"].names:
    record.string = named.get(record.nameID, record.toUnicode())
if "CFF " in font:
    sys.exit("the faces are read from TrueType outlines")
font.flavor = "woff2"
font.save(target)
"""


def called(*words: object) -> str:
    """Run a program, and stop where it fails."""
    environment = os.environ | {"SOURCE_DATE_EPOCH": "0", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    done = subprocess.run([str(word) for word in words], env=environment, capture_output=True, text=True, check=False)  # noqa: S603
    if done.returncode:
        sys.exit(f"{' '.join(map(str, words))[:300]}\n{done.stdout}{done.stderr}")
    return done.stdout.strip()


def licence(texts: list[str]) -> str:
    """The licence once, under the copyright of each font and what was changed."""
    heads = [text.splitlines()[0] for text in texts]
    rest = texts[0].split("\n", 1)[1]
    changed = (
        "Sfumato Sans and Sfumato Serif are cut from the Source fonts: fewer letters, no hinting, other names; the\n"
        "outlines are unchanged. They are no fonts of Adobe's, who has not looked at them."
    )
    return "\n\n".join([*heads, changed]) + "\n" + rest


def main(folder: Path) -> None:
    called(sys.executable, "-m", "venv", folder)
    python = folder / "bin" / "python"
    called(python, "-m", "pip", "install", "--quiet", *PACKAGES)
    where = Path(called(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"))
    texts: dict[str, str] = {}
    for name, (package, file, family, style) in FACES.items():
        files = where / package / "files"
        texts[package] = (files / "LICENSE.txt").read_text("utf-8")
        target = STATIC / f"{name}.woff2"
        called(python, "-c", CUT, files / file, target, family, style, LETTERS, FEATURES)
        sys.stdout.write(f"{target.name}: {target.stat().st_size:,} bytes\n")
    (STATIC / "letters-licence.txt").write_text(licence(list(texts.values())), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
