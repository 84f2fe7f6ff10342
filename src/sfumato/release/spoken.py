"""A release in another language: the same numbers, hashes and codes, with the texts that its plan gives in it."""

from dataclasses import replace

from sfumato.release.folder import Release
from sfumato.release.manifest import AttributeLine, ExposureLine, Manifest, ProductLine
from sfumato.release.products import Product
from sfumato.release.products.spoken import Spoken
from sfumato.release.translation import NO_TRANSLATION, Translation
from sfumato.schema.languages import OWN


def own_language(manifest: Manifest) -> str:
    """The language that the texts of a release are in."""
    return manifest.language or OWN


def in_language(release: Release, language: str) -> Release:
    """The release as a reader of a language sees it; what its plan does not say in it stays as it is."""
    release = release.own
    if language == own_language(release.manifest):
        return release
    said = release.manifest.languages.get(language, NO_TRANSLATION)
    products = {name: _product(one, said, language) for name, one in release.products.items()}
    return replace(release, manifest=_manifest(release.manifest, said), products=products, spoken_from=release)


def _product(product: Product, said: Translation, language: str) -> Product:
    subject = product.subject
    told = replace(
        subject,
        title=said.titles.get(subject.title, subject.title),
        unit=said.units.get(subject.unit, subject.unit),
        note=said.sentences.get(subject.note, subject.note),
    )
    return Spoken(product, told, tuple(said.attribute(one, language) for one in product.attributes))


def _manifest(manifest: Manifest, said: Translation) -> Manifest:
    return manifest.model_copy(
        update={
            "title": said.title or manifest.title,
            "attributes": [_attribute_line(one, said) for one in manifest.attributes],
            "products": [_product_line(one, said) for one in manifest.products],
            "exposures": [_exposure_line(one, said) for one in manifest.exposures],
        }
    )


def _attribute_line(line: AttributeLine, said: Translation) -> AttributeLine:
    return line.model_copy(update={"label": said.labels.get(line.name, line.label)})


def _product_line(line: ProductLine, said: Translation) -> ProductLine:
    title, unit = said.titles.get(line.title, line.title), said.units.get(line.unit, line.unit)
    return line.model_copy(update={"title": title, "unit": unit})


def _exposure_line(line: ExposureLine, said: Translation) -> ExposureLine:
    told = {name: said.sentences.get(getattr(line, name), getattr(line, name)) for name in ("what", "why")}
    return line.model_copy(update=told)
