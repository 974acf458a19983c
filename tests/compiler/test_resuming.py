"""Compilation and its cache: nothing is made twice, whatever interrupted it, whoever else is compiling."""

from __future__ import annotations

import multiprocessing
import threading

import pytest

import bddtorque as bt
from bddtorque.base.caching import Cache
from bddtorque.compiler import model_building as compiler

ARM = {"source": "terms", "bits": 4}


class Counts:
    """Progress that counts what was made and what was found."""

    def __init__(self, stop_after: int | None = None, kill_after: int | None = None) -> None:
        self.made: list[str] = []
        self.found: list[str] = []
        self.killed: list[int | None] = []
        self.stop_after, self.kill_after = stop_after, kill_after

    def start(self, what: str, total: float) -> None: ...

    def advance(self, name: str, cost: float, cached: bool) -> None:
        (self.found if cached else self.made).append(name)
        if self.stop_after is not None and len(self.made) == self.stop_after:
            raise KeyboardInterrupt
        if self.kill_after is not None and len(self.made) == self.kill_after:
            worker = multiprocessing.active_children()[0]
            worker.kill()
            self.killed.append(worker.pid)

    def finish(self) -> None: ...


def compile_counted(cache: Cache | None, workers: int = 1, **events: int):
    counts = Counts(**events)
    try:
        model = bt.compile("planar3r_a", workers=workers, cache=cache, progress=counts, **ARM)
    except KeyboardInterrupt:
        return None, counts
    return model, counts


def test_a_second_compilation_is_served_from_the_cache(tmp_path):
    cache = Cache(tmp_path / "blocks")
    first, made = compile_counted(cache)
    second, found = compile_counted(cache)
    assert len(made.made) == len(first.plan.blocks) and not made.found
    assert not found.made and len(found.found) == len(first.plan.blocks)
    assert second.digest == first.digest and second.diagram_digest == first.diagram_digest


def test_without_a_cache_everything_is_made_again():
    for _ in range(2):
        model, counts = compile_counted(None)
        assert len(counts.made) == len(model.plan.blocks) and not counts.found


@pytest.mark.slow
@pytest.mark.parametrize("workers", [1, 2])
def test_what_was_finished_at_ctrl_c_is_not_made_again(tmp_path, workers):
    cache = Cache(tmp_path / "blocks")
    stopped, before = compile_counted(cache, workers, stop_after=3)
    assert stopped is None and len(before.made) >= 3
    model, after = compile_counted(cache, workers)
    blocks = len(model.plan.blocks)
    assert len(after.found) >= 3 and len(after.made) + len(after.found) == blocks and len(after.made) < blocks
    assert model.digest == compile_counted(None)[0].digest


def test_an_interrupt_inside_a_block_loses_that_block_only(tmp_path, monkeypatch):
    cache, build, calls = Cache(tmp_path / "blocks"), compiler.build_block, []

    def interrupted(block, given, engine, memory):
        calls.append(block)
        if len(calls) == 4:
            raise KeyboardInterrupt
        return build(block, given, engine, memory)

    interrupted.__module__, interrupted.__qualname__ = build.__module__, build.__qualname__  # the same task, by its key
    monkeypatch.setattr(compiler, "build_block", interrupted)
    stopped, before = compile_counted(cache)
    assert stopped is None and len(before.made) == 3
    monkeypatch.setattr(compiler, "build_block", build)
    model, after = compile_counted(cache)
    assert len(after.found) == 3 and len(after.made) == len(model.plan.blocks) - 3


@pytest.mark.slow
def test_a_killed_worker_costs_nothing_but_time(tmp_path):
    expected = compile_counted(None)[0].digest
    model, counts = compile_counted(Cache(tmp_path / "blocks"), workers=2, kill_after=1)
    assert counts.killed
    assert model.digest == expected and len(counts.made) == len(model.plan.blocks)


@pytest.mark.everything  # tests/fuzz/test_interruptions.py has two processes on one cache
def test_two_compilations_at_once_share_a_cache(tmp_path):
    expected = compile_counted(None)[0].digest
    found: list[str] = []

    def work():
        found.append(compile_counted(Cache(tmp_path / "blocks"))[0].digest)

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [expected] * 3
    model, counts = compile_counted(Cache(tmp_path / "blocks"))
    assert not counts.made and model.digest == expected
