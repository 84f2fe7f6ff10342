"""Nothing that is published moves unless a commit says so: `make golden` accepts new hashes and prints which moved."""

import pytest
from tests.golden.content import hash_reply
from tests.golden.hashes import compute_hashes, find_moves, read_hashes
from tests.golden.releases import ENGINES, hash_files, rehearse_all


def test_what_is_published_and_served_is_what_it_was(tmp_path):
    hashes = compute_hashes(rehearse_all(tmp_path / "data", tmp_path / "releases"))
    assert len(hashes["served"]) >= 200
    assert find_moves(read_hashes(), hashes) == []


@pytest.mark.parametrize("engine", ENGINES)
def test_every_engine_publishes_the_same_bytes(tmp_path, engine):
    folders = rehearse_all(tmp_path / "data", tmp_path / "releases", engine)
    hashes = {name: hash_files(folder) for name, folder in folders.items()}
    accepted = {name: files for name, files in read_hashes().items() if name in hashes}
    assert len(hashes) >= 15
    assert find_moves(accepted, hashes) == []


def page(cell="1,204 ± 31", link="/a?rows=b", words="of all"):
    text = f'<p>{words}</p><table><tr><td>{cell}</td></tr></table><a href="{link}">more</a>'
    return hash_reply("text/html", text.encode())


def test_a_page_is_its_numbers_and_links_and_not_its_wording():
    assert page(words="in 3 other words") == page()
    assert page(cell="1,205 ± 31") != page()
    assert page(link="/a?rows=c") != page()


def test_an_answer_is_its_names_numbers_and_codes():
    answers = [
        b'{"value": 1, "note": "a note"}',
        b'{"value": 1, "note": "other words"}',
        b'{"value": 2, "note": "a note"}',
    ]
    first, reworded, moved = (hash_reply("application/json", answer) for answer in answers)
    assert first == reworded != moved
