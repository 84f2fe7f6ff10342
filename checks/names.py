"""A name is an address: no class name stands twice, and no module imports the package that it is in.

Run as `python checks/names.py src`; import-linter, which sees modules and not what is in them, does the rest.
"""

import ast
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path


def doubled(root: Path) -> Iterator[str]:
    """The class names that stand more than once, private and inner ones too, with their places."""
    places = defaultdict(list)
    for path in sorted(root.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                places[node.name].append(f"{path.relative_to(root)}:{node.lineno}")
    for name, at in places.items():
        if len(at) > 1:
            yield f"class {name} stands {len(at)} times, at {', '.join(at)}; give the rarer ones a more telling name."


def circular(root: Path) -> Iterator[str]:
    """The imports of a package by its own modules, wherever they stand in them: a cycle through its `__init__`."""
    for path in sorted(root.rglob("*.py")):
        above = [".".join(folder.parts) for folder in path.relative_to(root).parents]
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module in above and not _plain(root, node):
                yield f"{path.relative_to(root)}:{node.lineno} imports its own package {node.module}; name the module."


def _plain(root: Path, node: ast.ImportFrom) -> bool:
    """Whether all that is imported is modules of the package, or its version."""
    home = root.joinpath(*str(node.module).split("."))
    known = {one.stem for one in home.iterdir()} | {"__version__"}
    return all(one.name in known for one in node.names)


def main(root: Path) -> int:
    """Tell what breaks the rules; 0 where nothing does."""
    said = [*doubled(root), *circular(root)]
    sys.stdout.writelines(
        f"{line}\n" for line in said or ["Every class name stands once, and no module imports its package."]
    )
    return 1 if said else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
