"""The stream: never repeated across threads, forks or copies; the seeded twin can be recomputed by anyone."""

import copy
import hashlib
import multiprocessing
import os
import pickle
import shutil
import signal
import struct
import subprocess
import threading
import time

import numpy as np
import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from sfumato.draws import Draws, SeededDraws, SystemDraws, stream

SEED_7_KEY = hashlib.sha256(b"sfumato.draws.SeededDraws/1:7").digest()
# printf 'sfumato.draws.SeededDraws/1:7' | openssl dgst -sha256     gives KEY
# head -c 32 /dev/zero | openssl enc -aes-256-ctr -K KEY -iv 0...0 | od -tx1
SEED_7_STREAM = "abecab2193feea27600aeb822057d87c00f47b1691ea7a1ee6907343b7e718ba"


def words_in_a_forked_child(draw):
    """The words that `draw()` gives in a fork of this process, or an empty list if it did not finish well."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        signal.alarm(10)  # a child that hangs dies, and its words are missed
        try:
            os.write(writer, np.asarray(draw(), dtype="<u8").tobytes())
        finally:
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        words = np.frombuffer(pipe.read(), dtype="<u8").tolist()
    os.waitpid(child, 0)
    return words


def counter_mode_by_hand(key, n):
    """AES of the big-endian counters 0, 1, 2, ... one block at a time, in ECB mode, read as little-endian words."""
    block = Cipher(algorithms.AES(key), modes.ECB()).encryptor()
    blocks = b"".join(block.update(struct.pack(">QQ", 0, i)) for i in range(-(-n // 2)))
    return list(struct.unpack(f"<{2 * -(-n // 2)}Q", blocks))[:n]


def test_seeded_stream_is_the_one_openssl_gives():
    assert SeededDraws(7).words(4).astype("<u8").tobytes().hex() == SEED_7_STREAM


@pytest.mark.skipif(shutil.which("openssl") is None, reason="needs the openssl command")
def test_seeded_stream_is_the_one_openssl_gives_here_and_now():
    command = ["openssl", "enc", "-aes-256-ctr", "-K", SEED_7_KEY.hex(), "-iv", "0" * 32]
    ours = SeededDraws(7).words(1000).astype("<u8").tobytes()
    assert subprocess.run(command, input=bytes(8000), capture_output=True, check=True).stdout == ours


@pytest.mark.parametrize("sizes", [[1, 2, 3, 5, 7], [18], [17, 0, 1]])
def test_stream_does_not_depend_on_how_it_is_cut(sizes):
    draws = SeededDraws(7)
    got = [word for size in sizes for word in draws.words(size).tolist()]
    assert got == counter_mode_by_hand(SEED_7_KEY, 18)


def test_bits_are_the_stream_too():
    first, second, third = counter_mode_by_hand(SEED_7_KEY, 3)
    draws = SeededDraws(7)
    assert draws.bits(10) == first >> 54
    assert draws.bits(100) == (second | third << 64) >> 28


def test_seeds_give_different_streams_and_refuse_fractions():
    assert len({int(SeededDraws(seed).words(1)[0]) for seed in range(-50, 50)}) == 100
    with pytest.raises(TypeError):
        SeededDraws(1.5)


def test_only_the_seeded_stream_is_a_rehearsal():
    assert SeededDraws(7).rehearsal
    assert not SystemDraws().rehearsal


def test_system_streams_differ():
    # Two in a thousand streams share their first word with probability 1000^2 / 2^65 < 3e-14.
    assert len({int(SystemDraws().words(1)[0]) for _ in range(1000)}) == 1000


def test_words_are_fair_in_every_bit():
    # 64 normal approximations to Binomial(100,000, 1/2) at 7 standard deviations: false alarm 2e-10.
    # Power: a bit that is 1 with probability 0.53 is 19 standard deviations off.
    words = SystemDraws().words(100_000)
    ones = np.array([np.count_nonzero(words >> np.uint64(i) & np.uint64(1)) for i in range(64)])
    assert np.all(np.abs(ones - 50_000) < 7 * np.sqrt(25_000))


def test_words_have_their_type_and_their_number():
    for n in (0, 1, 5, 100_000):
        words = SystemDraws().words(n)
        assert words.dtype == np.uint64
        assert words.shape == (n,)


def test_system_stream_shows_no_key(monkeypatch):
    key = bytes(range(32))
    monkeypatch.setattr(stream.os, "urandom", lambda n: key[:n])
    draws = SystemDraws()
    assert repr(draws) == str(draws) == "SystemDraws()"
    shown = repr(vars(draws)) + repr(vars(draws._keystream))
    assert repr(key) not in shown
    assert key.hex() not in shown


@pytest.mark.parametrize("draws", [SystemDraws(), SeededDraws(7)], ids=repr)
@pytest.mark.parametrize("duplicate", [pickle.dumps, copy.copy, copy.deepcopy])
def test_a_stream_cannot_be_duplicated(draws: Draws, duplicate):
    with pytest.raises(TypeError, match="would draw the same noise"):
        duplicate(draws)


def test_threads_never_get_the_same_word():
    # 8 * 20,000 words repeat by chance with probability 160,000^2 / 2^65 = 7e-10.
    draws, got = SystemDraws(), []
    barrier = threading.Barrier(8)

    def read():
        barrier.wait()
        got.extend(word for _ in range(200) for word in draws.words(100).tolist())

    threads = [threading.Thread(target=read) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(got) == len(set(got)) == 160_000


def test_threads_share_out_one_stream():
    draws, got = SeededDraws(7), []

    def read():
        got.extend(word for _ in range(100) for word in draws.words(3).tolist())

    threads = [threading.Thread(target=read) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(got) == sorted(counter_mode_by_hand(SEED_7_KEY, 1200))


def test_one_thread_at_a_time_reads_the_cipher():
    class Slow:
        inside, most = 0, 0

        def update_into(self, zeros, stream):
            self.inside += 1
            self.most = max(self.most, self.inside)
            time.sleep(0.02)
            self.inside -= 1

    draws = SystemDraws()
    slow = draws._keystream._cipher = Slow()
    threads = [threading.Thread(target=draws.words, args=(1,)) for _ in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert slow.most == 1


def test_forks_draw_words_of_their_own():
    draws = SystemDraws()
    draws.words(3)
    children = [words_in_a_forked_child(lambda: draws.words(100)) for _ in range(3)]
    grandchild = words_in_a_forked_child(lambda: words_in_a_forked_child(lambda: draws.words(100)))
    words = [*draws.words(100).tolist(), *grandchild, *(word for child in children for word in child)]
    assert len(words) == len(set(words)) == 500


def test_without_a_new_key_a_fork_would_repeat_its_parent():
    # The control of the test above: the bare keystream is what a careless stream would be.
    keystream = SystemDraws()._keystream

    def drawn():
        words = np.empty(100, dtype=np.uint64)
        keystream.fill(words)
        return words

    assert words_in_a_forked_child(drawn) == drawn().tolist()


def test_words_put_in_place_are_the_words_of_the_stream():
    one, other, kept = SeededDraws(7), SeededDraws(7), np.zeros(9, dtype=np.uint64)
    one.fill(kept[2:5])
    one.fill(kept[6:8])
    assert kept.tolist() == [0, 0, *(words := other.words(5).tolist())[:3], 0, *words[3:], 0]


def test_worker_processes_draw_words_of_their_own():
    draws = SystemDraws()
    queue = multiprocessing.get_context("fork").SimpleQueue()
    workers = [
        multiprocessing.get_context("fork").Process(target=lambda: queue.put(draws.words(50).tolist()))
        for _ in range(3)
    ]
    for worker in workers:
        worker.start()
    words = draws.words(50).tolist() + [word for _ in workers for word in queue.get()]
    for worker in workers:
        worker.join()
    assert len(words) == len(set(words)) == 200


@pytest.mark.parametrize("sign", ["pid", "forks"])
def test_either_sign_of_a_fork_is_enough_for_a_new_key(monkeypatch, sign):
    # With urandom held fixed, a new key shows as the stream starting over.
    monkeypatch.setattr(stream.os, "urandom", lambda n: SEED_7_KEY[:n])
    draws = SystemDraws()
    assert draws.words(2).tolist() + draws.words(2).tolist() == counter_mode_by_hand(SEED_7_KEY, 4)
    if sign == "pid":
        monkeypatch.setattr(stream.os, "getpid", lambda: -1)
    else:
        monkeypatch.setattr(stream, "_forks", stream._forks + 1)
    assert draws.words(2).tolist() + draws.words(2).tolist() == counter_mode_by_hand(SEED_7_KEY, 4)


def test_a_fork_while_a_thread_is_reading_does_not_hang():
    draws = SystemDraws()
    with draws._keystream._lock:
        assert len(words_in_a_forked_child(lambda: draws.words(10))) == 10


def test_a_seeded_stream_refuses_to_go_on_in_a_fork():
    draws = SeededDraws(7)

    def refused():
        with pytest.raises(RuntimeError, match="its own seed in each process"):
            draws.words(1)
        return [1]

    assert words_in_a_forked_child(refused) == [1]
    assert draws.words(4).astype("<u8").tobytes().hex() == SEED_7_STREAM
