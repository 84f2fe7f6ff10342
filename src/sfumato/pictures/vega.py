"""Vega-Lite: the same marks as a specification that other tools draw, every error field in its data."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from sfumato.pictures.look import CARD, INK, MUTE, NOISE, SAMPLING, SERIES
from sfumato.pictures.mark import Caption, Mark, rows_of, series_of

SCHEMA = "https://vega.github.io/schema/vega-lite/v5.json"
Spec = dict[str, Any]


def vega_lite(marks: Sequence[Mark], caption: Caption, kind: str) -> Spec:
    """A layered specification of a dot, bar or line picture; its data stand inside it and nothing is fetched."""
    series = series_of(marks)
    upright, values = kind == "line", values_of(marks)
    size: Spec = {"width": 560, "height": 300} if upright else {"width": 460, "height": {"step": 24}}
    return sheet_of(caption) | {
        **size,
        "data": {"values": values},
        "encoding": _shared(kind, series, list(dict.fromkeys(value["label"] for value in values))),
        "layer": _line_layers(caption, series) if upright else _row_layers(kind, caption, series),
    }


def sheet_of(caption: Caption) -> Spec:
    """What stands round every picture."""
    notes = [note for note in (caption.banner, caption.source) if note]
    return {
        "$schema": SCHEMA,
        "title": {"text": caption.title, "anchor": "start", **({"subtitle": notes} if notes else {})},
        "usermeta": {"banner": caption.banner, "source": caption.source},
        "background": CARD,
    }


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


def _shared(kind: str, series: Sequence[str], labels: list[str]) -> Spec:
    """What every layer shares: the place of the row or period, and the series beside one another.

    The order is written out, as layers that leave marks out would else put them last.
    """
    if kind == "line":
        return {"x": {"field": "label", "type": "ordinal", "sort": labels, "title": None}}
    rows: Spec = {
        "y": {"field": "label", "type": "nominal", "sort": labels, "title": None, "axis": {"labelLimit": 280}}
    }
    if len(series) > 1:
        rows["yOffset"] = {"field": "series", "sort": list(series)}
    return rows


def _colours(series: Sequence[str]) -> Spec:
    """Colour by series, where there are several."""
    if len(series) < 2:
        return {"color": {"value": INK}}
    scale = {"domain": list(series), "range": list(SERIES)[: len(series)]}
    return {"color": {"field": "series", "type": "nominal", "title": None, "scale": scale}}


def _shapes(series: Sequence[str]) -> Spec:
    """Shape by series, in the scale of its colours, so that one key serves both."""
    scale = {"domain": list(series)}
    return {"shape": {"field": "series", "title": None, "scale": scale}} if len(series) > 1 else {}


def _axis(field: str, caption: Caption, *, zero: bool) -> Spec:
    axis: Spec = {"axis": {"format": ".0%"}} if caption.percent else {}
    return {"field": field, "type": "quantitative", "title": caption.axis or None, "scale": {"zero": zero}, **axis}


def _row_layers(kind: str, caption: Caption, series: Sequence[str]) -> list[Spec]:
    """The bar or the dot, the interval with the noise's share of it, the grade, and the words for a withheld error."""
    zero = kind == "bar"
    value = {"x": _axis("value", caption, zero=zero)}
    hidden = {"type": "text", "align": "left", "dx": 8, "color": MUTE, "text": caption.words.withheld}
    grade: Spec = {"mark": {"type": "text", "align": "left", "dx": 6, "fontSize": 10, "color": MUTE}}
    grade["encoding"] = {"x": _axis("high", caption, zero=zero), "text": {"field": "grade"}}
    return [
        *([_bar(value | _colours(series))] if zero else []),
        *_intervals(caption, zero=zero),
        *([] if zero else _dots(value, series)),
        _kept("datum.low !== null", grade),
        _kept("datum.low === null", {"mark": hidden, "encoding": value}),
    ]


def _intervals(caption: Caption, *, zero: bool) -> list[Spec]:
    def rule(ends: tuple[str, str], **mark: Any) -> Spec:
        encoding = {"x": _axis(ends[0], caption, zero=zero), "x2": {"field": ends[1]}}
        return {"mark": {"type": "rule", **mark}, "encoding": encoding}

    return [
        _kept("datum.noise_low !== null", rule(("low", "high"), strokeWidth=6, opacity=0.35, color=SAMPLING)),
        _kept("datum.noise_low !== null", rule(("noise_low", "noise_high"), strokeWidth=6, opacity=0.7, color=NOISE)),
        _kept("datum.low !== null", rule(("low", "high"), strokeWidth=1, color=INK)),
    ]


def _line_layers(caption: Caption, series: Sequence[str]) -> list[Spec]:
    """The band of the intervals, the line, and its points, hollow where the grade is C or the error withheld."""
    colours, value = _colours(series), {"y": _axis("value", caption, zero=False)}
    band = {"y": _axis("low", caption, zero=False), "y2": {"field": "high"}, **colours}
    return [
        _kept("datum.low !== null", {"mark": {"type": "area", "opacity": 0.2}, "encoding": band}),
        {"mark": {"type": "line"}, "encoding": value | colours},
        *_dots(value, series),
    ]


def _dots(value: Mapping[str, Any], series: Sequence[str]) -> list[Spec]:
    """Full for grades A and B, hollow for C and for a withheld error."""
    encoding = {**value, **_colours(series), **_shapes(series)}
    point = {"type": "point", "opacity": 1, "size": 60, "tooltip": {"content": "data"}}
    full: Spec = {"mark": point | {"filled": True}, "encoding": encoding}
    hollow: Spec = {"mark": point | {"filled": False, "fill": CARD}, "encoding": encoding}
    return [
        _kept("datum.low !== null && datum.grade !== 'C'", full),
        _kept("datum.low === null || datum.grade === 'C'", hollow),
    ]


def _bar(encoding: Mapping[str, Any]) -> Spec:
    """A bar filled for grades A and B and pale for C and for a withheld error."""
    open_ = {"test": "datum.low === null || datum.grade === 'C'", "value": 0.12}
    mark: Spec = {"type": "bar", "tooltip": {"content": "data"}}
    return {"mark": mark, "encoding": {**encoding, "fillOpacity": {"condition": open_, "value": 0.65}}}


def _kept(test: str, layer: Spec) -> Spec:
    return {"transform": [{"filter": test}], **layer}
