"""Link room: how many bytes of a page its addresses may take, as each of them holds the whole state of the page."""

from sfumato.serve.pages.layout import Layout

MOST_BYTES = 500_000
"""Of one kind of link: a page of ordinary length has room for two thousand of them."""


def has_room(layout: Layout, count: int) -> bool:
    """Whether so many links that hold the address of a page are a small part of it.

    Where they are not, marks of a picture lead nowhere, as the table has their cells, and what else is chosen by a link
    is chosen by a button of the form, which holds the address once.
    """
    return count < 2 or count * len(layout.address()) <= MOST_BYTES
