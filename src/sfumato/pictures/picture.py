"""Picture: a drawing with its title, its words and its data, to show on a page, in a notebook, or to keep as a file."""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from html import escape
from pathlib import Path

from markupsafe import Markup

from sfumato.errors import QueryError
from sfumato.foreign_text import marked

MOST_PIXELS, LEAST_ZOOM = 4_000_000, 1.0
"""From so many pixels on a drawing is less fine, down to one pixel a unit: each takes ten bytes while it is drawn."""
SVG_NAMESPACE = "http://www.w3.org/2000/svg"


@dataclass(frozen=True)
class Picture:
    """SVG as it stands in a page, what it says in words, and the same as Vega-Lite where that is meant."""

    title: str
    svg: Markup
    told: tuple[str, ...] = ()
    vega: Mapping[str, object] = field(default_factory=dict)
    in_words: str = "In words"

    @property
    def width(self) -> float:
        """How wide the drawing is, in its own units."""
        return self._size[0]

    @property
    def height(self) -> float:
        return self._size[1]

    @property
    def _size(self) -> tuple[float, float]:
        across, down = str(self.svg).partition('viewBox="0 0 ')[2].partition('"')[0].split(" ")
        return float(across), float(down)

    def __html__(self) -> str:
        """The drawing, for a template that escapes."""
        return self.svg

    def _repr_svg_(self) -> str:
        return self.to_svg()

    def _repr_html_(self) -> str:
        said = "".join(f"<li>{marked(one)}</li>" for one in self.told)
        told = f"<details><summary>{escape(self.in_words)}</summary><ul>{said}</ul></details>" if said else ""
        return f"<figure>{self.svg}{told}</figure>"

    def to_svg(self) -> str:
        """The drawing as a file of its own."""
        return str(self.svg).replace("<svg ", f'<svg xmlns="{SVG_NAMESPACE}" ', 1)

    def to_png(self, zoom: float = 2.0) -> bytes:
        """The drawing in pixels, twice as fine as it is wide unless told otherwise; a very long one is less fine."""
        from sfumato.pictures.png import png

        return png(self.to_svg(), min(zoom, max(LEAST_ZOOM, math.sqrt(MOST_PIXELS / (self.width * self.height)))))

    def to_vega(self) -> str:
        """The same marks as Vega-Lite JSON, to change and draw elsewhere."""
        if not self.vega:
            raise QueryError(f"'{self.title}' has no Vega-Lite form; save it as .svg or .png.")
        return json.dumps(self.vega, ensure_ascii=False, indent=1, allow_nan=False)

    def save(self, path: str | Path) -> Path:
        """Keep the picture as .svg, .png or, in Vega-Lite, .json."""
        path = Path(path)
        if path.suffix == ".svg":
            path.write_text(self.to_svg(), encoding="utf-8")
        elif path.suffix == ".png":
            path.write_bytes(self.to_png())
        elif path.suffix == ".json":
            path.write_text(self.to_vega(), encoding="utf-8")
        else:
            raise QueryError(f"A picture is kept as .svg, .png or .json; '{path.name}' was asked for.")
        return path
