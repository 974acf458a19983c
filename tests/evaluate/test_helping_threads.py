"""Threads that take shares of a batch."""

import gc
import threading

import pytest

from bddtorque.evaluate.threads import HelpingThreads


def own_threads():
    return [each for each in threading.enumerate() if each.name == "bddtorque"]


@pytest.mark.parametrize("threads", [0, 1, 3])
@pytest.mark.parametrize("count", [1, 2, 5])
def test_every_share_is_done_once_whatever_the_number_of_threads(threads, count):
    helpers = HelpingThreads(threads)
    for round_ in range(20):
        done = []
        told = helpers.run(lambda place, done=done, round_=round_: done.append(place) or place == round_, count)
        assert sorted(done) == list(range(count)) and told == (round_ < count)


def test_a_share_that_a_thread_does_is_done_in_that_thread():
    helpers, where, both = HelpingThreads(1), {}, threading.Barrier(2, timeout=30)

    def work(place):
        both.wait()  # neither goes on before the other has come
        where[place] = threading.current_thread()
        return False

    assert helpers.run(work, 2) is False
    assert where[0] is threading.current_thread() and where[1] in own_threads()


def test_what_goes_wrong_in_a_thread_is_raised_where_the_work_was_asked_for():
    helpers, both = HelpingThreads(1), threading.Barrier(2, timeout=30)

    def work(place):
        both.wait()
        if place:
            raise KeyError("share")
        return False

    for _ in range(2):
        with pytest.raises(KeyError, match="share"):
            helpers.run(work, 2)
    assert helpers.run(lambda place: True, 2) is True


def test_threads_end_with_their_owner():
    before = own_threads()
    helpers = HelpingThreads(2)
    helpers.run(lambda place: False, 3)
    started = [each for each in own_threads() if each not in before]
    assert len(started) == 2
    del helpers
    gc.collect()
    for each in started:
        each.join(30)
        assert not each.is_alive()
