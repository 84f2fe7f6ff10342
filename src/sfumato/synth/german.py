"""What synthetic code lists say in German: sectors and the words of made-up places; numbers and codes stay."""

import re

WORDS = {
    "Farming, forestry and fishing": "Land- und Forstwirtschaft, Fischerei",
    "Mining and quarrying": "Bergbau, Steine und Erden",
    "Utilities": "Energie- und Wasserversorgung",
    "Construction": "Baugewerbe",
    "Manufacturing": "Verarbeitendes Gewerbe",
    "Wholesale trade": "Großhandel",
    "Retail trade": "Einzelhandel",
    "Transport and storage": "Verkehr und Lagerei",
    "Information": "Information und Kommunikation",
    "Finance and insurance": "Finanzen und Versicherungen",
    "Property and rental": "Immobilien und Vermietung",
    "Professional services": "Freiberufliche Dienste",
    "Head offices": "Unternehmensführung",
    "Administrative support": "Sonstige Unternehmensdienste",
    "Education": "Erziehung und Unterricht",
    "Health and social care": "Gesundheit und Soziales",
    "Arts and recreation": "Kunst und Erholung",
    "Hotels and restaurants": "Gastgewerbe",
    "Other services": "Sonstige Dienste",
    "Public administration": "Öffentliche Verwaltung",
    "Not classified": "Nicht zugeordnet",
    "State": "Bundesstaat",
    "Place": "Ort",
    "tract": "Bezirk",
}
_WORD = re.compile("|".join(rf"\b{re.escape(word)}\b" for word in sorted(WORDS, key=len, reverse=True)))


def german(label: str) -> str:
    """A label in German.

    >>> german("Construction 2.1"), german("County 001, State 01"), german("Block 0100100")
    ('Baugewerbe 2.1', 'County 001, Bundesstaat 01', 'Block 0100100')
    """
    return _WORD.sub(lambda found: WORDS[found[0]], label)
