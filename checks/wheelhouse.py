"""The wheelhouse: every wheel of the agency's install in one folder, each with the hash that the project has for it.

Run as `python checks/wheelhouse.py FOLDER` where there is a network; in a clean room, the folder installs without one:

    pip install --no-index --require-hashes --only-binary :all: --find-links FOLDER -r FOLDER/requirements.txt

`hashes.txt` has the hashes that were looked at when versions were chosen, as `sha256sum` writes them. A wheel that
it does not list, of another version or for another platform, is refused, until `--accept` writes it down.
"""

import hashlib
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
HASHES = ROOT / "hashes.txt"


def called(*words: object, offline: bool = False) -> None:
    """Run a program of Python's, and stop where it fails."""
    plain = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"} | {
        "PIP_DISABLE_PIP_VERSION_CHECK": "1"
    }
    told = plain | {"PIP_NO_INDEX": "1", "PIP_NO_CACHE_DIR": "1"} if offline else plain
    done = subprocess.run([str(word) for word in words], env=told, capture_output=True, text=True, check=False)  # noqa: S603
    if done.returncode:
        sys.exit(f"{' '.join(map(str, words))}\n{done.stdout}{done.stderr}")


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def known(text: str) -> dict[str, str]:
    """The hash of every file that a list has, as `sha256sum` writes it."""
    return {name: found for found, name in (line.split("  ", 1) for line in text.splitlines() if line.strip())}


def refusals(wheels: list[Path], hashes: dict[str, str]) -> list[str]:
    """What is wrong with some wheels: a hash that is another one, or none at all."""
    said = []
    for wheel in wheels:
        expected = hashes.get(wheel.name)
        if expected is None:
            said.append(f"{wheel.name} has no hash in {HASHES.name}; look at it, and add it with --accept.")
        elif expected != digest(wheel):
            said.append(
                f"{wheel.name} is not the file whose hash {HASHES.name} has; it was exchanged. Do not install it."
            )
    return said


def requirements(wheels: list[Path]) -> str:
    """Every wheel by name and version, with its hash: what pip verifies before it installs anything."""
    lines = []
    for wheel in wheels:
        name, version, *_ = wheel.name.split("-")
        lines.append(f"{name}=={version} --hash=sha256:{digest(wheel)}")
    return "\n".join(lines) + "\n"


def collected(folder: Path) -> tuple[list[Path], Path]:
    """The wheels that the constraints name, and our own, which is built here."""
    pip = [sys.executable, "-m", "pip"]
    called(*pip, "wheel", "--no-deps", "--wheel-dir", folder, ROOT)
    (own,) = folder.glob("sfumato-*.whl")
    constrained = ["--constraint", ROOT / "constraints.txt", "--only-binary", ":all:", "--dest", folder]
    called(*pip, "download", *constrained, f"{own}[agency]")
    return sorted(set(folder.glob("*.whl")) - {own}), own


def main(folder: Path, *, accept: bool) -> None:
    folder.mkdir(parents=True)
    wheels, own = collected(folder)
    hashes = known(HASHES.read_text("utf-8")) if HASHES.exists() else {}
    if accept:
        hashes = {wheel.name: digest(wheel) for wheel in wheels} | hashes
        listed = sorted(hashes.items(), key=lambda one: one[0].lower())
        HASHES.write_text("".join(f"{found}  {name}\n" for name, found in listed), "utf-8")
    if wrong := refusals(wheels, hashes):
        sys.exit("\n".join(wrong))
    (folder / "requirements.txt").write_text(requirements([*wheels, own]), "utf-8")
    room = folder / "installed"
    called(sys.executable, "-m", "venv", room)
    offline = ["--no-index", "--find-links", folder, "--require-hashes", "--only-binary", ":all:"]
    called(
        room / "bin" / "python",
        "-m",
        "pip",
        "install",
        *offline,
        "--requirement",
        folder / "requirements.txt",
        offline=True,
    )
    called(room / "bin" / "sfumato", "price", ROOT / "src" / "sfumato" / "plans" / "employment.toml")
    print(f"{len(wheels) + 1} wheels, each as {HASHES.name} has it; installed from {folder} without a network.")  # noqa: T201


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve(), accept="--accept" in sys.argv[2:])
