"""A release in another language: the same numbers, hashes and codes, with the texts that its plan gives in it."""

from dataclasses import replace

from sfumato.geography import Shapes
from sfumato.release.folder import Release
from sfumato.release.manifest import AttributeLine, ExposureLine, Manifest, ProductLine, SpendLine
from sfumato.release.phrases import Retold
from sfumato.release.products import Product
from sfumato.release.products.spoken import Spoken
from sfumato.release.promise import Promise
from sfumato.release.translation import NO_TRANSLATION, Translation


def in_language(release: Release, language: str) -> Release:
    """The release as a reader of a language sees it; what its plan does not say in it stays as it is."""
    release = release.own
    if language == release.manifest.own_language:
        return release
    said = release.manifest.languages.get(language, NO_TRANSLATION)
    retold = Retold(language, said, _labels(release.manifest, said))
    products = {name: _product(one, said, retold, language) for name, one in release.products.items()}
    shapes = {name: _drawn(one, retold) for name, one in release.shapes.items()}
    manifest = _manifest(release.manifest, said, retold)
    told = {"spoken_from": release, "told_in": language, "told": retold.sentence}
    return replace(release, manifest=manifest, products=products, shapes=shapes, **told)  # type: ignore[arg-type]


def _drawn(shapes: Shapes, retold: Retold) -> Shapes:
    return replace(shapes, source=retold.sentence(shapes.source), projection=retold.sentence(shapes.projection))


def _labels(manifest: Manifest, said: Translation) -> dict[str, str]:
    """What variables and what is measured are called, by what sentences of the manifest call them."""
    named = {one.name: one.label for one in manifest.attributes}
    own = {
        text.lower(): said.labels[name]
        for name, label in named.items()
        if name in said.labels
        for text in (name, label)
    }
    return {**{title.lower(): told for title, told in said.titles.items()}, **own}


def _product(product: Product, said: Translation, retold: Retold, language: str) -> Product:
    subject = product.subject
    told = replace(
        subject,
        title=said.titles.get(subject.title, subject.title),
        unit=said.units.get(subject.unit, subject.unit),
        unit_of_one=said.units.get(subject.one, ""),
        note=retold.sentence(subject.note),
        mechanism=retold.sentence(subject.mechanism),
    )
    return Spoken(product, told, tuple(said.attribute(one, language) for one in product.attributes), retold)


def _manifest(manifest: Manifest, said: Translation, retold: Retold) -> Manifest:
    return manifest.model_copy(
        update={
            "promise": _promise(manifest.promise, retold),
            "spends": [_spend_line(one, retold) for one in manifest.spends],
            "title": said.title or manifest.title,
            "unit": said.units.get(manifest.unit, manifest.unit),
            "attributes": [_attribute_line(one, said) for one in manifest.attributes],
            "products": [_product_line(one, said) for one in manifest.products],
            "exposures": [_exposure_line(one, said) for one in manifest.exposures],
        }
    )


def _promise(promise: Promise, retold: Retold) -> Promise:
    told = {name: retold.sentence(getattr(promise, name)) for name in ("words", "not_hidden", "loss_words")}
    implied = [
        one.model_copy(update={"whom": retold.sentence(one.whom), "loss": retold.sentence(one.loss)})
        for one in promise.implied
    ]
    return promise.model_copy(update={**told, "implied": implied})


def _spend_line(line: SpendLine, retold: Retold) -> SpendLine:
    told = {name: retold.sentence(getattr(line, name)) for name in ("mechanism", "words")}
    noise = line.noise and line.noise.model_copy(update={"why": retold.sentence(line.noise.why)})
    return line.model_copy(update={**told, "noise": noise})


def _attribute_line(line: AttributeLine, said: Translation) -> AttributeLine:
    return line.model_copy(update={"label": said.labels.get(line.name, line.label)})


def _product_line(line: ProductLine, said: Translation) -> ProductLine:
    title, unit = said.titles.get(line.title, line.title), said.units.get(line.unit, line.unit)
    return line.model_copy(update={"title": title, "unit": unit})


def _exposure_line(line: ExposureLine, said: Translation) -> ExposureLine:
    told = {name: said.sentences.get(getattr(line, name), getattr(line, name)) for name in ("what", "why")}
    return line.model_copy(update=told)
