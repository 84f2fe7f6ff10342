"""A release is what was published, to the bit, or it is refused."""

import os
import random
import shutil
import subprocess

import pytest

import sfumato as sf
from sfumato.confidential import Options
from sfumato.release import differences, open_release, sign, verify, withdraw


def files(folder):
    return sorted(path for path in folder.rglob("*") if path.is_file())


def found_or_refused(folder) -> bool:
    try:
        return not verify(folder).intact
    except sf.ReleaseError:
        return True


def test_an_untouched_release_is_intact_and_opens(make_release):
    folder = make_release()
    assert verify(folder).problems == ()
    assert open_release(folder).manifest.releasable


def test_folders_and_keys_may_be_named_by_text(make_release, keys):
    private, public = keys
    folder = make_release(options=Options(sign_with=private))
    assert verify(str(folder), str(public)) == verify(folder, public)
    assert verify(str(folder), str(public)).signed == "signature true"
    assert open_release(str(folder), str(public)).id == verify(folder).id


def test_every_one_of_a_thousand_bit_flips_is_found(make_release):
    folder = make_release()
    rng = random.Random(1)
    paths = files(folder)
    for _ in range(1000):
        path = rng.choice(paths)
        content = path.read_bytes()
        place = rng.randrange(8 * len(content))
        flipped = bytearray(content)
        flipped[place // 8] ^= 1 << (place % 8)
        path.write_bytes(flipped)
        # A flip in the manifest that still reads as one makes another release: its id tells it apart.
        assert found_or_refused(folder) or verify(folder).id != verify_id(content, path)
        path.write_bytes(content)
    assert verify(folder).intact


def verify_id(content: bytes, path) -> str:
    from sfumato.release import digest

    return digest(content) if path.name == "manifest.json" else ""


def test_a_flip_in_a_signed_manifest_is_found_by_the_signature(make_release, keys):
    private, public = keys
    folder = make_release(options=Options(sign_with=private))
    assert verify(folder, public).signed == "signature true"
    manifest = folder / "manifest.json"
    content = manifest.read_bytes()
    manifest.write_bytes(content.replace(b"Jobs by trade", b"Jobs by crade"))
    assert not verify(folder, public).intact
    manifest.write_bytes(content)
    assert verify(folder, public).intact


@pytest.mark.parametrize("name", ["withdrawn.json", "manifest.sig", "plan.toml", "products/pipe", "manifest.json"])
def test_a_pipe_or_a_link_to_no_end_is_named_and_not_read(make_release, name):
    for put in (os.mkfifo, lambda path: path.symlink_to("/dev/zero")):
        folder = make_release()
        (folder / name).unlink(missing_ok=True)
        put(folder / name)
        if name == "manifest.json":
            with pytest.raises(sf.ReleaseError, match="is not a release"):
                verify(folder)
        else:
            assert any(name in problem for problem in verify(folder).problems)
        shutil.rmtree(folder)


def test_dropping_adding_swapping_and_linking_files_is_found(make_release, tmp_path):
    folder = make_release()
    for path in files(folder):
        kept = path.read_bytes()
        path.unlink()
        assert found_or_refused(folder), f"dropped {path.name}"
        path.write_bytes(kept)
    (folder / "products" / "extra.parquet").write_bytes(b"extra")
    assert "does not belong" in verify(folder).problems[0]
    (folder / "products" / "extra.parquet").unlink()
    jobs, pay = folder / "products" / "jobs.parquet", folder / "products" / "pay.parquet"
    swapped = jobs.read_bytes(), pay.read_bytes()
    jobs.write_bytes(swapped[1])
    pay.write_bytes(swapped[0])
    assert len(verify(folder).problems) == 2
    jobs.write_bytes(swapped[0])
    pay.unlink()
    (tmp_path / "elsewhere").write_bytes(swapped[1])
    pay.symlink_to(tmp_path / "elsewhere")
    assert "link" in verify(folder).problems[0]


def test_an_older_release_put_in_place_of_a_newer_one_has_another_id(make_release):
    old, new = make_release("old"), make_release("new")
    announced = verify(new).id
    shutil.rmtree(new)
    shutil.copytree(old, new)
    assert verify(new).intact
    assert verify(new).id != announced


def test_another_key_does_not_verify_and_a_missing_signature_is_a_problem(make_release, keys, tmp_path):
    _, public = keys
    unsigned = make_release("unsigned")
    assert "missing" in verify(unsigned, public).problems[0]
    other = tmp_path / "other.pem"
    subprocess.run(["openssl", "genpkey", "-algorithm", "ed25519", "-out", str(other)], check=True)
    sign(unsigned, other)
    assert "not of this content by this key" in verify(unsigned, public).problems[0]


def test_a_withdrawn_release_says_why_and_a_notice_about_another_release_is_a_problem(make_release):
    one, other = make_release("one"), make_release("two")
    withdraw(one, "The period was wrong.")
    assert open_release(one).withdrawn == "The period was wrong."
    shutil.copy(one / "withdrawn.json", other / "withdrawn.json")
    assert "not about this release" in verify(other).problems[0]


def test_diff_says_what_changed_and_which_release_supersedes_which(make_release):
    first = make_release("first")
    second = make_release("second", Options(supersedes=verify(first).id))
    said = differences(open_release(first), open_release(second))
    assert "product jobs: the numbers changed" in said
    assert "the second supersedes the first" in said
    together = next(line for line in said if line.startswith("both together"))
    assert "epsilon 4" in together
    assert "0.9826" in together  # the test power at epsilon 4, SCIENCE 1
    assert differences(open_release(first), open_release(first)) == []


def test_a_manifest_that_points_outside_its_folder_is_refused(make_release):
    folder = make_release()
    manifest = folder / "manifest.json"
    manifest.write_bytes(manifest.read_bytes().replace(b'"plan.toml"', b'"../plan.toml"'))
    with pytest.raises(sf.ReleaseError, match="leads out"):
        verify(folder)


def test_the_manifest_holds_the_promise_the_spends_and_no_count_of_rows(make_release, small_plan):
    folder = make_release()
    manifest = open_release(folder).manifest
    assert manifest.promise.loss == {"epsilon": "2"}
    assert [spend.loss for spend in manifest.spends] == [{"epsilon": "1"}, {"epsilon": "1"}]
    assert "4000" not in (folder / "manifest.json").read_text()
    assert manifest.ledger is not None
    assert round(manifest.promise.power_at_5_percent, 4) == 0.3695  # SCIENCE 1, epsilon 2


def test_a_rehearsal_is_marked_and_not_charged(make_release, tmp_path):
    from sfumato.confidential import Account

    folder = make_release("trial", Options(rehearsal=7))
    manifest = open_release(folder).manifest
    assert manifest.rehearsal
    assert {path.stat().st_mode & 0o777 for path in (folder, *folder.rglob("*"))} == {0o700, 0o600}
    assert not manifest.releasable
    assert manifest.ledger is None
    assert Account(tmp_path / "jobs.ledger").ledger.charges == ()


@pytest.fixture
def keys(tmp_path):
    private, public = tmp_path / "private.pem", tmp_path / "public.pem"
    subprocess.run(["openssl", "genpkey", "-algorithm", "ed25519", "-out", str(private)], check=True)
    subprocess.run(["openssl", "pkey", "-in", str(private), "-pubout", "-out", str(public)], check=True)
    return private, public
