"""Ctrl-C waits while futures are touched, and comes right after."""

from __future__ import annotations

import shutil
import signal
import tempfile
import threading
from concurrent.futures import Future

import pytest

from bddtorque.base.system import interrupts_held, scratch_folder


@pytest.fixture(autouse=True)
def _ctrl_c_raises():
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # the suite may run with Ctrl-C ignored
    yield
    signal.signal(signal.SIGINT, before)


def test_ctrl_c_waits_until_the_end() -> None:
    reached = False
    with pytest.raises(KeyboardInterrupt), interrupts_held():
        signal.raise_signal(signal.SIGINT)
        reached = True
    assert reached
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_lock_that_is_taken_meanwhile_is_given_back() -> None:
    future: Future[int] = Future()
    with pytest.raises(KeyboardInterrupt), interrupts_held():
        future._condition.acquire()
        signal.raise_signal(signal.SIGINT)
        future._condition.release()
    ended = threading.Thread(target=future.set_result, args=(1,), daemon=True)
    ended.start()
    ended.join(60)
    assert future.done()


def test_an_error_is_not_lost_where_nobody_interrupts() -> None:
    with pytest.raises(ValueError, match="of the work"), interrupts_held():
        raise ValueError("of the work")


def test_other_threads_leave_the_handler_alone() -> None:
    seen = []

    def work() -> None:
        with interrupts_held():
            seen.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [signal.default_int_handler]


@pytest.mark.parametrize("step", ["mkdtemp", "rmtree", None])
def test_a_scratch_folder_is_gone_whenever_ctrl_c_comes(step, tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    home = {"mkdtemp": tempfile, "rmtree": shutil}.get(step)
    if home is not None:
        work = getattr(home, step)

        def interrupted(*given, **options):
            signal.raise_signal(signal.SIGINT)
            return work(*given, **options)

        monkeypatch.setattr(home, step, interrupted)
    with pytest.raises(KeyboardInterrupt), scratch_folder() as folder:
        (folder / "file").write_text("written")
        if step is None:
            signal.raise_signal(signal.SIGINT)
    assert list(tmp_path.iterdir()) == []
