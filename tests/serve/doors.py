"""Doors: every link and every control of a page, as the requests that a browser makes of them."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from urllib.parse import urlencode

PLACES = {"rows", "cols", "wrap"}
Pairs = list[tuple[str, str]]


@dataclass(eq=False)
class Field:
    """A field of a form: its name, its kind, what it may hold, and what it holds."""

    name: str
    kind: str
    values: list[str] = field(default_factory=list)
    value: str | None = None

    @property
    def pairs(self) -> Pairs:
        value = self.values[0] if self.value is None and self.kind == "select" and self.values else self.value
        return [] if value is None or not self.name else [(self.name, value)]


class Doors(HTMLParser):
    """The links of a page, and the fields and buttons of each of its forms."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.actions: dict[str, str] = {}
        self.fields: dict[str, list[Field]] = {}
        self.buttons: dict[str, list[tuple[str, str, str]]] = {}
        self._form, self._select = "", Field("", "select")
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        one = {name: value or "" for name, value in attrs}
        form = one.get("form") or self._form
        if tag == "a" and "href" in one:
            self.links.append(one["href"])
        elif tag == "form":
            self._form = one.get("id") or f"form {len(self.actions)}"
            if one.get("method", "get").lower() == "get":
                self.actions[self._form] = one.get("action", "")
        elif tag == "select":
            self._select = Field(one.get("name", ""), "select")
            self.fields.setdefault(form, []).append(self._select)
        elif tag == "option":
            self._select.values.append(one.get("value", ""))
            self._select.value = one.get("value", "") if "selected" in one else self._select.value
        elif tag == "input" and one.get("name"):
            kind = one.get("type", "text")
            chosen = kind not in {"checkbox", "radio"} or "checked" in one
            found = Field(one["name"], kind, [one.get("value", "")], one.get("value", "") if chosen else None)
            self.fields.setdefault(form, []).append(found)
        elif tag == "button" and one.get("type", "submit") == "submit" and one.get("name"):
            door = one["name"], one.get("value", ""), one.get("formaction", "")
            self.buttons.setdefault(form, []).append(door)

    def handle_endtag(self, tag: str) -> None:
        if tag == "form":
            self._form = ""

    def requests(self) -> Iterator[tuple[str, str]]:
        """Each door with its name and its address: a form is sent once with each other choice of each field."""
        for href in self.links:
            yield f"link {href}", href
        for form, action in self.actions.items():
            fields = self.fields.get(form, [])
            sent = [pair for one in fields for pair in one.pairs]
            for one in fields:
                for value in one.values:
                    if one.kind != "hidden" and value != one.value:
                        yield f"{one.name}={value}", f"{action}?{urlencode(_with(fields, one, value))}"
            for name, value, elsewhere in self.buttons.get(form, []):
                yield f"button {name}={value}", f"{elsewhere or action}?{urlencode([*sent, (name, value)])}"


def _held(one: Field) -> str:
    return dict(one.pairs).get(one.name, "")


def _with(fields: list[Field], chosen: Field, value: str) -> Pairs:
    """What a form sends after a choice; a variable stands in one place, so that two places exchange theirs."""
    stood = _held(chosen)
    placed = [one for one in fields if one.kind == "select" and one.name in PLACES]
    pairs: Pairs = []
    for one in fields:
        if one is chosen:
            pairs.append((one.name, value))
        elif chosen in placed and one in placed and value and _held(one) == value:
            taken = {value, *(_held(other) for other in placed if other is not one and other is not chosen)}
            free = [option for option in one.values if not option or option not in taken]
            pairs.append((one.name, stood if stood in free else free[0]))
        elif not (chosen.kind == "radio" and one.name == chosen.name):
            pairs += one.pairs
    return pairs
