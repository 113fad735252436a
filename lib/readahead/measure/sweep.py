"""A pile of forms and a few clerks: whoever is free takes the next, and a form that lay on the desk of one who was
called away goes back on the pile.

Any list of settings can be measured this way on the workers of a cluster, one at a time on each, with progress.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from readahead.errors import Cancelled
from readahead.measure.cluster import Cluster
from readahead.measure.events import OnEvent, check, tell

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")


def sweep(
    cluster: Cluster,
    call: Callable[[_Item], _Result],
    items: Sequence[_Item],
    on_event: OnEvent | None = None,
    stop: threading.Event | None = None,
) -> list[_Result]:
    """Return `call(item)` for every item, in order, one at a time on each worker; a dead worker's is done again.

    Workers that share a machine share its cores: give each its own before times are compared. Raises what `call`
    raises, and `Cancelled` when told to stop.
    """
    cluster.open(on_event)
    found: dict[int, _Result] = {}
    waiting = list(range(len(items)))
    at_work: dict[str, tuple[int, Any]] = {}
    try:
        while len(found) < len(items):
            check(stop)
            alive = cluster.alive()
            for address, (number, future) in list(at_work.items()):
                if future.done():
                    found[number] = future.result()
                    note = f"setting {len(found)} of {len(items)}, on {len(alive)} workers"
                    tell(on_event, len(found), len(items), note)
                elif address in alive:
                    continue
                else:
                    waiting.insert(0, number)
                del at_work[address]
            for address in [one for one in alive if one not in at_work][: len(waiting)]:
                number = waiting.pop(0)
                at_work[address] = (number, cluster.submit(call, address, items[number]))
            cluster.some([future for _, future in at_work.values()])
    except Cancelled:
        cluster.hurry([future for _, future in at_work.values()])
        raise
    return [found[number] for number in range(len(items))]
