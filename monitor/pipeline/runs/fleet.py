"""Many models: one after the other, or spread over processes.

Rule 1: what becomes of a model depends neither on the other models nor on the number of processes.
Rule 2: a process that dies takes its model with it, and no other; processes end with their parent.
"""

import gc
import logging
import os
import signal
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_context, parent_process
from multiprocessing.connection import Connection
from threading import Thread
from typing import Generic, TypeVar

from monitor.base.errors import ConfigError, DataError, within_memory
from monitor.config import Config
from monitor.pipeline.runs.planning import share

T = TypeVar("T")
Do = Callable[[Config, str, int], T]  # of the configuration, a model, and its number of jobs
INTERRUPTED = 130
MOST_MESSAGES = 10  # of the models of a batch that failed; the log has the others
log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Done(Generic[T]):
    """What became of a model: a result, or the error that stopped it."""

    model: str
    result: T | None = None
    error: ConfigError | DataError | None = None


def of_models(do: Do[T], config: Config, names: Sequence[str], *, jobs: int) -> Iterator[Done[T]]:
    """Call `do` for every model, and yield what became of each as soon as it is known.

    Parameters
    ----------
    do : callable
        A function that other processes can import. It gets the configuration, with this model
        alone if it is called in another process, the name, and how many days to process at a time.
    config : Config
        The whole configuration.
    names : sequence of str
        The models.
    jobs : int
        How many processes share the models and the engine's threads and memory. If there are
        fewer models, each gets several jobs. Spark has one session, so its models take turns.
    """
    processes = processes_of(config, names, jobs)
    if processes == 1:
        for name in names:
            yield attempt(do, config, name, jobs)
        return
    shared = config.model_copy(update={"engine": share(config.engine, processes)})
    work = partial(_in_pool, do, shared, jobs=jobs // processes)
    waiting, lost = list(reversed(names)), list[str]()
    while waiting:
        yield from work(waiting, lost, processes=processes)
    for name in lost:  # one of them ended its process; alone, it shows itself
        alone = list[str]()
        yield from work([name], alone, processes=1)
        if alone:
            yield Done(name, error=DataError(_ended(name)))


def processes_of(config: Config, names: Sequence[str], jobs: int) -> int:
    """Say over how many processes models are spread."""
    return 1 if config.engine.kind == "spark" else max(1, min(jobs, len(names)))


def is_one_of_several() -> bool:
    """Say whether this process is one of those that models are spread over."""
    return parent_process() is not None


def attempt(do: Do[T], config: Config, name: str, jobs: int) -> Done[T]:
    """Call `do` for one model; its errors do not stop the others."""
    try:
        with within_memory(name):
            return Done(name, do(config, name, jobs))
    except (ConfigError, DataError) as error:
        return Done(name, error=error)


@dataclass(frozen=True)
class Batch:
    """What became of a batch of models: the errors of some, and why others were skipped."""

    names: Sequence[str]
    errors: Mapping[str, ConfigError | DataError]
    skipped: Sequence[str]

    @property
    def what_failed(self) -> str:
        """Names the models that failed, and says why the first ones did."""
        failed = f"{len(self.errors)} of the {len(self.names)} models in this batch failed"
        messages, more = [*map(str, self.errors.values())], len(self.errors) - MOST_MESSAGES
        rest = [f"The log has the messages of {more} more models."] if more > 0 else []
        which = ", ".join(sorted(self.errors))
        return "\n".join([f"{failed}: {which}.", *messages[:MOST_MESSAGES], *rest])


def process_batch(
    config: Config, names: Sequence[str], do: Callable[[str], str | None], *, backwards: bool
) -> Batch:
    """Call `do` for each model, which says why it skips one, and log errors and skips."""
    errors, skipped = dict[str, ConfigError | DataError](), list[str]()
    for name in reversed(names) if backwards else names:
        done = attempt(lambda _config, name, _jobs: do(name), config, name, 1)
        if done.error:
            errors[name] = done.error
            log.error("%s", done.error)
        elif done.result:
            skipped.append(done.result)
            log.info("%s", done.result)
    return Batch(names, errors, skipped)


def _in_pool(
    do: Do[T], config: Config, waiting: list[str], lost: list[str], *, processes: int, jobs: int
) -> Iterator[Done[T]]:
    """Work on those that wait, the last first, until a process dies; what it had is then lost.

    No more are handed out than there are processes, so few are lost.
    """
    busy = dict[Future[Done[T]], str]()
    with _pool(processes, do) as pool, suppress(BrokenProcessPool):
        while waiting or busy:
            while waiting and len(busy) < processes:
                name = waiting[-1]
                own = config.model_copy(
                    update={"models": {name: config.model(name)}, "invalid": {}}
                )
                busy[pool.submit(_work, do, own, name, jobs)] = name
                waiting.pop()
            for future in wait(busy, return_when=FIRST_COMPLETED).done:
                done = future.result()
                del busy[future]
                yield done
    lost.extend(busy.values())


@contextmanager
def _pool(processes: int, do: Callable[..., object]) -> Iterator[ProcessPoolExecutor]:
    """Start processes that end when this block does, or this process, however it ends."""
    # Not forked from this process, whose threads could hold locks that nobody would release.
    context = get_context("forkserver")
    needs = {getattr(do, "func", do).__module__, "monitor.pipeline.runs.run"}
    context.set_forkserver_preload(sorted(needs))  # imported once for all processes
    theirs, ours = context.Pipe(duplex=False)
    pool = ProcessPoolExecutor(
        processes,
        mp_context=context,
        initializer=_begin,
        initargs=(theirs, dict(os.environ), gc.get_threshold()),
    )
    try:
        yield pool
    finally:
        ours.close()
        pool.shutdown(cancel_futures=True)
        theirs.close()


def _begin(
    parent: Connection, environment: Mapping[str, str], thresholds: tuple[int, int, int]
) -> None:
    """Prepare a process: it takes its orders from its parent, and ends with it."""
    os.environ.update(environment)
    gc.set_threshold(*thresholds)
    logging.basicConfig(level=logging.WARNING)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a terminal sends it to all processes

    def end_with_parent() -> None:
        with suppress(EOFError, OSError):
            parent.recv_bytes()  # nothing is ever sent
        os.kill(os.getpid(), signal.SIGTERM)

    Thread(target=end_with_parent, daemon=True).start()


def _work(do: Do[T], config: Config, name: str, jobs: int) -> Done[T]:
    """Call `do` in this process; if it has to end meanwhile, it first releases what it holds."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        return attempt(do, config, name, jobs)
    except KeyboardInterrupt:
        os._exit(INTERRUPTED)
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


def _ended(name: str) -> str:
    return (
        f"{name}: its process was ended by the system, most likely because memory ran out; lower "
        f"engine.memory_mb, or --jobs of run and backfill, or give this machine more memory, then "
        f"run again."
    )
