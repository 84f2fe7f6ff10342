"""A release in another language: the same numbers, hashes and codes, with the texts that its plan gives in it."""

from dataclasses import replace

from sfumato.geography import Shapes
from sfumato.release.anchor import Anchor
from sfumato.release.folder import Release
from sfumato.release.manifest import AttributeLine, ExposureLine, Manifest, ProductLine, SpendLine
from sfumato.release.products import Product
from sfumato.release.products.product_in_language import ProductInLanguage
from sfumato.release.promise import Promise
from sfumato.release.translation import NO_TRANSLATION, Translation
from sfumato.release.translator import Translator
from sfumato.schema.languages import OWN


def in_language(release: Release, language: str) -> Release:
    """The release as a reader of a language sees it; what is not said in it stays as it is, and knows its language."""
    release = release.own
    own = release.manifest.own_language
    if language == own == OWN:
        return release
    said = release.manifest.languages.get(language, NO_TRANSLATION)
    translator = Translator(language, said, _labels(release.manifest, said), own)
    return replace(
        release,
        manifest=_manifest(release.manifest, translator),
        products={name: _product(one, translator) for name, one in release.products.items()},
        shapes={name: _shapes(one, translator) for name, one in release.shapes.items()},
        in_own_language=release,
        translator=translator,
    )


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


def _shapes(shapes: Shapes, to: Translator) -> Shapes:
    return replace(shapes, source=to.remark(shapes.source), projection=to.sentence(shapes.projection))


def _product(product: Product, to: Translator) -> Product:
    own, units = product.subject, to.said.units
    subject = replace(
        own,
        title=to.title(own.title),
        unit=to.unit(own.unit),
        unit_of_one="" if own.unit in units and own.one not in units else to.unit(own.one),
        note=to.sentence(own.note),
        mechanism=to.sentence(own.mechanism),
    )
    return ProductInLanguage(product, subject, tuple(to.attribute(one) for one in product.attributes), to)


def _manifest(manifest: Manifest, to: Translator) -> Manifest:
    return manifest.model_copy(
        update={
            "promise": _promise(manifest.promise, to),
            "spends": [_spend_line(one, to) for one in manifest.spends],
            "title": to.headed(manifest.title),
            "unit": to.unit(manifest.unit),
            "attributes": [_attribute_line(one, to) for one in manifest.attributes],
            "products": [_product_line(one, to) for one in manifest.products],
            "exposures": [_exposure_line(one, to) for one in manifest.exposures],
            "ledger": _ledger(manifest.ledger, to),
        }
    )


def _promise(promise: Promise, to: Translator) -> Promise:
    told = {name: to.sentence(getattr(promise, name)) for name in ("words", "not_hidden", "loss_words")}
    implied = [
        one.model_copy(update={"whom": to.sentence(one.whom), "loss": to.sentence(one.loss)}) for one in promise.implied
    ]
    return promise.model_copy(update={**told, "implied": implied})


def _spend_line(line: SpendLine, to: Translator) -> SpendLine:
    told = {"mechanism": to.sentence(line.mechanism), "words": to.sentence(line.words)}
    noise = line.noise and line.noise.model_copy(update={"why": to.sentence(line.noise.why)})
    return line.model_copy(update={**told, "noise": noise})


def _attribute_line(line: AttributeLine, to: Translator) -> AttributeLine:
    return line.model_copy(update={"label": to.label(line.name, line.label)})


def _product_line(line: ProductLine, to: Translator) -> ProductLine:
    return line.model_copy(update={"title": to.title(line.title), "unit": to.unit(line.unit)})


def _exposure_line(line: ExposureLine, to: Translator) -> ExposureLine:
    return line.model_copy(update={"what": to.remark(line.what), "why": to.remark(line.why)})


def _ledger(ledger: Anchor | None, to: Translator) -> Anchor | None:
    """The account of a population, which has one name in all languages, as accounts are told apart by it."""
    return ledger and ledger.model_copy(update={"population": to.stays(ledger.population)})
