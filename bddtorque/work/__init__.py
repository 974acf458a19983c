"""Tasks with content keys, run in processes or on any executor, cached and resumable."""

from __future__ import annotations

from bddtorque.work.caching import Cache, cache_directory, cache_named, default_cache
from bddtorque.work.lending import WorkError
from bddtorque.work.processors import usable_processors
from bddtorque.work.tasks import Task, content_key
from bddtorque.work.workers import NoProgress, Progress, Workers, step

__all__ = [
    "Cache",
    "NoProgress",
    "Progress",
    "Task",
    "WorkError",
    "Workers",
    "cache_directory",
    "cache_named",
    "content_key",
    "default_cache",
    "step",
    "usable_processors",
]
