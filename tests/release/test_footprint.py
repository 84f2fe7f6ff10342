"""What opened releases hold in memory is told before they are opened, from what their files say of themselves."""

import pytest
from tests.cli.test_cli import sfumato

import sfumato as sf
from sfumato.release.footprint import OPENED, PER_CODE, PER_LAID_OUT, opened_memory


def test_every_cell_that_is_laid_out_and_every_code_is_counted(make_release):
    folder = make_release()
    opened = sf.open(folder).release
    cells = sum(product.values.size for product in opened.products.values())
    codes = sum(len(attribute.levels.codes) for attribute in opened.attributes)
    memory = opened_memory([folder, folder], answers=7)
    assert memory.bytes == OPENED + 2 * (PER_LAID_OUT * cells + PER_CODE * codes) + 7
    possible = sum(int(product.domain.possible.sum()) for product in opened.products.values())
    assert memory.words() == f"{2 * possible} cells: about 0.2 GB of memory"


def test_a_server_says_what_it_will_hold_and_refuses_what_the_machine_does_not_have(make_release, monkeypatch):
    """Nothing is opened then; with as much as is stated it would be."""
    folder, asked = make_release(), []
    need = opened_memory([folder], 64 * 2**20).bytes
    monkeypatch.setattr("sfumato.serve.serve", lambda *given, **_: asked.append(given))
    monkeypatch.setattr("sfumato.schema.memory.available", lambda: need - 1)
    said = sfumato("serve", folder, good=False).stderr
    assert "cells: about 0.2 GB of memory, and this machine has 0.2 GB; serve fewer releases" in said
    assert not asked
    monkeypatch.setattr("sfumato.schema.memory.available", lambda: need)
    assert "To serve: " in sfumato("serve", folder).stderr
    assert asked


@pytest.mark.parametrize("name", ["products", "levels"])
def test_a_file_that_cannot_be_read_is_left_to_the_opening(make_release, name):
    folder = make_release()
    whole = opened_memory([folder]).bytes
    broken = next((folder / name).glob("*.parquet"))
    broken.write_bytes(b"no table")
    assert opened_memory([folder]).bytes <= whole
    broken.unlink()
    assert opened_memory([folder]).bytes <= whole
