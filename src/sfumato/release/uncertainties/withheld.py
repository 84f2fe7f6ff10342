"""Withheld, as an uncertainty that a manifest may state."""

from sfumato.release.uncertainties.uncertainty import Withheld

EXAMPLE = Withheld("its scale follows a confidential size")
