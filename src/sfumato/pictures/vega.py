"""Vega-Lite: the same marks as a specification that other tools draw, every error field in its data."""

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from sfumato.pictures.look import CARD, COLOURS, INK, SERIES
from sfumato.pictures.mark import Caption, Mark, rows_of, series_of

Spec = dict[str, Any]
_SPECS: Spec = json.loads(Path(__file__).with_suffix(".json").read_text(encoding="utf-8"))
"""Each kind of picture, and the parts that several have; `$names` stand for what is told of one picture."""
_COLOURS = {f"${name}": colour for name, colour in COLOURS.items()}


def vega_lite(marks: Sequence[Mark], caption: Caption, kind: str) -> Spec:
    """A layered specification of a dot, bar or line picture; its data stand inside it and nothing is fetched."""
    series, values = series_of(marks), values_of(marks)
    axis: Spec = {"type": "quantitative", "title": caption.axis or None, "scale": {"zero": kind == "bar"}}
    axis |= {"axis": {"format": ".0%"}} if caption.percent else {}
    told = {
        "$values": values,
        # The order is written out, as layers that leave marks out would else put them last.
        "$labels": list(dict.fromkeys(value["label"] for value in values)),
        "$offset": {"yOffset": {"field": "series", "sort": list(series)}} if len(series) > 1 else {},
        "$axis": axis,
        "$value": {"y" if kind == "line" else "x": {"field": "value", **axis}},
        "$withheld": caption.words.withheld,
    }
    return spec_of(kind, caption, told | _by_series(series))


def _by_series(series: Sequence[str]) -> Spec:
    """Colour and shape by series, where there are several, in one scale so that one key serves both."""
    if len(series) < 2:
        return {"$colours": {"color": {"value": INK}}, "$shapes": {}}
    scale = {"domain": list(series), "range": list(SERIES)[: len(series)]}
    shape = {"field": "series", "title": None, "scale": {"domain": list(series)}}
    colour = {"field": "series", "type": "nominal", "title": None, "scale": scale}
    return {"$colours": {"color": colour}, "$shapes": {"shape": shape}}


def spec_of(kind: str, caption: Caption, told: Spec) -> Spec:
    """The specification of a kind of picture, with what stands round every one and what is told of this one."""
    under = caption.title if caption.headline else ""
    head = caption.headline or caption.title
    notes = [note for note in (under, caption.banner, caption.source) if note]
    sheet = {
        "$schema": "https://vega.github.io/schema/vega-lite/v5.json",
        "title": {"text": head, "anchor": "start", **({"subtitle": notes} if notes else {})},
        "usermeta": {"banner": caption.banner, "source": caption.source},
        "background": CARD,
    }
    whole: Spec = _filled(_SPECS[kind], _COLOURS | told | {"$sheet": sheet})
    return whole


def _filled(part: Any, told: Mapping[str, Any]) -> Any:
    """A part with what its names stand for; a key that is a name gives way to all keys of what it stands for."""
    if isinstance(part, str) and part.startswith("$"):
        return told[part] if part in told else _filled(_SPECS["parts"][part], told)
    if isinstance(part, list):
        return [_filled(one, told) for one in part]
    if not isinstance(part, dict):
        return part
    whole: Spec = {}
    for key, one in part.items():
        whole |= _filled(key, told) if key.startswith("$") else {key: _filled(one, told)}
    return whole


def values_of(marks: Sequence[Mark]) -> list[Spec]:
    """One record a mark: what is drawn, and whatever the mark carries; names that clash end in an underscore."""
    labels = [row.label for row in rows_of(marks)]
    return [_value(mark, labels.count(mark.label) > 1) for mark in marks]


def _value(mark: Mark, shared: bool) -> Spec:
    share = mark.noise_share if mark.stated else None
    low, high = mark.ends
    drawn: Spec = {
        "label": f"{mark.label} ({mark.code})" if shared and mark.code else mark.label,
        "code": mark.code,
        "series": mark.series,
        "value": mark.value,
        "low": mark.low,
        "high": mark.high,
        "noise_share": share,
        "noise_low": None if share is None else mark.value + (low - mark.value) * share,
        "noise_high": None if share is None else mark.value + (high - mark.value) * share,
        "grade": mark.grade,
        "withheld": mark.withheld if mark.withheld or mark.stated else "the error is withheld",
    }
    return drawn | {f"{name}_" if name in drawn else name: _plain(value) for name, value in mark.carried.items()}


def _plain(value: object) -> object:
    """A value that JSON can hold; what is infinite has no number there."""
    return None if isinstance(value, float) and not math.isfinite(value) else value
