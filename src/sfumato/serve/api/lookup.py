"""Lookup: what the operations of the API look things up in."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from starlette.exceptions import HTTPException
from starlette.requests import Request

from sfumato.errors import nearest
from sfumato.query.wording import languages
from sfumato.schema import Attribute
from sfumato.serve.address import origin
from sfumato.serve.address_parameters import Parameters
from sfumato.serve.catalogue import Catalogue
from sfumato.serve.code_list import code_lists
from sfumato.serve.editions import Sheet
from sfumato.serve.files import PublishedFile
from sfumato.serve.jsonstat import list_id
from sfumato.serve.limits import Limits


@dataclass(frozen=True, eq=False)
class Served:
    """A catalogue, the path below which it is served, and the bounds that its readers are told."""

    catalogue: Catalogue
    base: str
    limits: Limits = field(default_factory=Limits)
    files: Mapping[str, Mapping[str, PublishedFile]] = field(default_factory=dict)
    """The files of each release by its key, and by their names in its folder."""

    @cached_property
    def _spoken(self) -> "dict[str, Served]":
        return {}

    def in_language(self, language: str) -> "Served":
        """The same as readers of a language see it; a language that there is not is refused where it is read."""
        if language not in languages():
            return self
        if language not in self._spoken:
            catalogue = self.catalogue.in_language(language)
            made = self if catalogue is self.catalogue else replace(self, catalogue=catalogue)
            self._spoken[language] = made
        return self._spoken[language]

    def at(self, request: Request) -> str:
        """The address below which the API is reached, whole, as JSON-stat has addresses."""
        return origin(request) + self.base

    def sheet(self, name: str) -> Sheet:
        """The table of this address; a wrong one answers with the nearest."""
        sheet = self.catalogue.tables.get(name)
        if sheet is None:
            hint = nearest(name[:100], self.catalogue.tables)
            raise HTTPException(404, f"There is no table '{name[:100]}' here; {hint}")
        return sheet

    @cached_property
    def codelists(self) -> Mapping[str, tuple[Sheet, Attribute, str]]:
        """Every code list by the name it has on the whole server."""
        return {
            list_id(sheet, attribute, name): (sheet, attribute, name)
            for edition in self.catalogue.editions
            for sheet in edition.sheets
            for attribute in sheet.product.attributes
            for name in code_lists(attribute.levels)
        }


def parameters(request: Request, *plain: str, of_variable: Sequence[str] = ()) -> Parameters:
    """The parameters of an address."""
    return Parameters.read(request.query_params.multi_items(), plain, of_variable)
