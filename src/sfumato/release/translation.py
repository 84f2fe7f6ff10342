"""Translation: what a release says of itself in a further language; what is not said stays in its own."""

from collections.abc import Mapping

from pydantic import Field

from sfumato.release.promise import ManifestPart
from sfumato.schema import Attribute


class Translation(ManifestPart):
    """Texts of the plan in one language: public text, which changes no number, no promise and no price.

    Titles, units and sentences are found by what stands in the release's own language, so that what is said once need
    not be said again of the next measure; labels of variables by the variable's name. Those of levels stand beside
    them in the files of levels, as `label.de`.
    """

    title: str = ""
    labels: dict[str, str] = Field(default_factory=dict)
    titles: dict[str, str] = Field(default_factory=dict)
    units: dict[str, str] = Field(default_factory=dict)
    sentences: dict[str, str] = Field(default_factory=dict)

    def __bool__(self) -> bool:
        return any(getattr(self, name) for name in type(self).model_fields)

    def attribute(self, attribute: Attribute, language: str) -> Attribute:
        return attribute.in_language(language, self.labels.get(attribute.name, ""))


Translations = Mapping[str, Translation]
"""By the tag of the language."""
NO_TRANSLATION = Translation()


def joined(one: Translation, other: Translation) -> Translation:
    """Both together; what the first says stays."""
    maps = {name: {**getattr(other, name), **getattr(one, name)} for name in ("labels", "titles", "units", "sentences")}
    return Translation(title=one.title or other.title, **maps)
