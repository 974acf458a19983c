"""A Dask cluster as an executor: `connected("tcp://host:8786")`. Needs the extra `cluster`.

Dask gives a task of a lost worker to another one. What is added here: a look at the code of each worker before anything
is sent, so that no machine computes with other code; every task looks again, for workers that come later; and one clear
line when the scheduler, or the last worker, is gone.
"""

from __future__ import annotations

import contextlib
import logging
import pickle
import platform
import re
import time
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future
from typing import Any

from bddtorque.base.errors import BddTorqueError, one_line
from bddtorque.base.tasks import environment_digest
from bddtorque.base.workers import ClusterLostError, WorkError

TIMEOUT = 10.0
"""Seconds within which a scheduler must answer, and a first worker be there."""
NO_WORKERS = 60.0
"""Seconds without any worker after which the work is given up."""
MAX_SAID = 3
"""Machines that a message names."""
ADDRESS = re.compile(r"(tcp|tls|ucx|wss?)://(\[[^\[\]\s]+\]|[^\[\]:/\s]+):(\d{1,5})", re.ASCII)
"""Of a scheduler: the scheme, the host (IPv6 in brackets) and the port."""
MAX_PORT = 65_535
CLOSING = 2.0
"""Seconds for taking leave of a scheduler."""


class ClusterExecutor(Executor):
    """A `concurrent.futures.Executor` on the machines of a Dask cluster; see `connected`."""

    def __init__(self, client: Any, address: str) -> None:
        self.address = address  # of the scheduler
        # how many tasks the workers ran at a time when the cluster was connected
        self.threads = sum(client.nthreads().values())
        self._client = client
        self._environment = environment_digest(__name__)
        self._deserted: float | None = None

    def submit(self, function: Callable[..., Any], /, *arguments: Any, **options: Any) -> Future[Any]:
        """Send a function of an importable module and its arguments; they travel as bytes."""
        self._check_connection()
        sent = pickle.dumps((function, arguments, options))
        future: Future[Any] = self._client.get_executor(pure=False).submit(run_sent, self._environment, sent)
        return future

    def check(self) -> None:
        """Raise `ClusterLostError` if the scheduler is gone, or there has been no worker for a while."""
        self._check_connection()
        try:
            self.threads = sum(self._client.nthreads().values())
        except (OSError, RuntimeError):
            self._check_connection()
            return
        if self.threads:
            self._deserted = None
        elif self._deserted is None:
            self._deserted = time.monotonic()
        elif time.monotonic() - self._deserted > NO_WORKERS:
            raise ClusterLostError(
                f"cluster {self.address}: there has been no worker for {NO_WORKERS:.0f} s; start some"
            )

    def _check_connection(self) -> None:
        if self._client.status != "running":
            raise ClusterLostError(f"cluster {self.address}: the connection to the scheduler was lost")


def run_sent(environment: str, sent: bytes) -> Any:
    """Run, on a worker, a function that was sent, and return its result; refuse to with other code."""
    if environment_digest(__name__) != environment:
        raise WorkError(
            f"worker on {platform.node()}: its bddtorque, Python, NumPy or Numba differ from those of the "
            "machine that submits the tasks; install the same"
        )
    function, arguments, options = pickle.loads(sent)
    return function(*arguments, **options)


@contextlib.contextmanager
def connected(address: str, timeout: float = TIMEOUT, name: str = "cluster") -> Iterator[ClusterExecutor]:
    """Connect to a Dask scheduler and give its cluster as an executor, in a `with` statement.

    Machines trust one another: whoever reaches the scheduler can run code on its workers.

    Parameters
    ----------
    address
        The scheduler's address, such as ``"tcp://scheduler.lab:8786"``.
    timeout
        Seconds within which the scheduler must answer and have a first worker.
    name
        The option that the user wrote the address after, for messages.

    Yields
    ------
    ClusterExecutor
        An executor for `compile`, `verify` and `sweep`.

    Raises
    ------
    BddTorqueError
        The scheduler does not answer, has no workers, or they have other versions of Python, bddtorque, NumPy or
        Numba.
    """
    distributed = _distributed()
    found = ADDRESS.fullmatch(address) if isinstance(address, str) else None
    if found is None or not 1 <= int(found[3]) <= MAX_PORT:  # before Dask, which waits for what cannot be there
        raise BddTorqueError(f"{name} must be an address such as tcp://scheduler.lab:8786, got {address!r:.60}")
    with _quiet():
        client = _client(distributed, address, timeout)
        try:
            _check_workers(client, address, timeout)
            yield ClusterExecutor(client, address)
        finally:
            with contextlib.suppress(Exception):  # it may be gone
                client.close(timeout=CLOSING)


def _distributed() -> Any:
    try:
        import distributed  # type: ignore[import-not-found,unused-ignore] # noqa: PLC0415 - an extra
    except ImportError as problem:
        raise BddTorqueError(
            f"cluster: the package distributed is missing; run: pip install 'bddtorque[cluster]' ({problem})"
        ) from None
    return distributed


def _client(distributed: Any, address: str, timeout: float) -> Any:
    try:
        with warnings.catch_warnings():  # of versions that differ: what matters of that is said below
            warnings.simplefilter("ignore", distributed.versions.VersionMismatchWarning)
            return _client_class(distributed)(address, timeout=timeout, set_as_default=False, name="bddtorque")
    except Exception as problem:  # whatever an address that is none, or a name that is not known, leads to
        said = str(problem).splitlines()
        raise BddTorqueError(
            one_line(
                f"cluster {address}: no Dask scheduler answered within {timeout:g} s"
                f" ({type(problem).__name__}{f': {said[0]}' if said else ''})"
            )
        ) from None


def _client_class(distributed: Any) -> Any:
    """Return a client that leaves quietly: one never connected would wait, and show a traceback, as it dies."""

    class QuietClient(distributed.Client):  # type: ignore[misc]
        def close(self, timeout: float = CLOSING) -> Any:
            with contextlib.suppress(Exception):
                return super().close(timeout)

    return QuietClient


def _check_workers(client: Any, address: str, timeout: float) -> None:
    """Refuse a cluster without workers, and one of which a worker has other code than this machine, or none."""
    try:
        client.wait_for_workers(1, timeout=timeout)
    except TimeoutError:
        raise BddTorqueError(f"cluster {address}: no worker connected within {timeout:g} s; start some") from None
    found = client.run(environment_digest, __name__, on_error="return")
    wrong = [worker for worker, digest in found.items() if digest != environment_digest(__name__)]
    if wrong:
        more = f" and {len(wrong) - MAX_SAID} more" if len(wrong) > MAX_SAID else ""
        raise BddTorqueError(
            f"cluster {address}: bddtorque, Python, NumPy and Numba must be the same on all machines, and differ from "
            f"those here on worker {', '.join(wrong[:MAX_SAID])}{more}"
        )


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Keep Dask from telling, in many lines, what is said in one."""
    names = [name for name in logging.root.manager.loggerDict if name.partition(".")[0] == "distributed"]
    levels = {name: logging.getLogger(name).level for name in names}
    for name in names:
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        for name, level in levels.items():
            logging.getLogger(name).setLevel(level)
