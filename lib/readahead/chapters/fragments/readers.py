"""A few people at one shelf, each with a row of their own. Plain threads read their own part of a file from start to
end through the emulated device; no engine is in the way."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from pathlib import Path

from readahead.devices import Device
from readahead.measure.machine import this_machine
from readahead.measure.sample import Sample
from readahead.running import carried, check, interrupts, stopped, tell
from readahead.storage.emulated import EmulatedFileSystem


def run_readers(
    path: Path,
    device: Device,
    *,
    readers: int,
    request_bytes: int,
    total_bytes: int,
    repeats: int = 3,
    facts: Mapping[str, object] | None = None,
) -> Sample:
    """Measure how long `readers` threads take for the first `total_bytes` of a file.

    Raises `Cancelled` when asked to stop.
    """
    filesystem = EmulatedFileSystem(device)
    part = total_bytes // readers
    seconds, cpu = [], []
    with filesystem.open(str(path)) as file, interrupts(filesystem.hurry):

        def read_part(reader: int) -> None:
            for request in range(max(1, part // request_bytes)):
                if stopped():
                    return
                file.seek(reader * part + request * request_bytes)
                file.read(request_bytes)

        for repeat in range(repeats):
            check()
            tell(repeat, repeats, f"run {repeat + 1} of {repeats} with {readers} readers")
            filesystem.fresh()
            threads = [
                threading.Thread(target=carried(read_part), args=(n,), name="readahead-reader")
                for n in range(readers)
            ]
            start_s, cpu_s = time.perf_counter(), time.process_time()
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            seconds.append(time.perf_counter() - start_s)
            cpu.append(max(0.0, time.process_time() - cpu_s - filesystem.spun_s))
        check()
        reads = filesystem.trace.reads(start_s=start_s)
    return Sample(
        seconds=tuple(seconds),
        cpu_s=tuple(cpu),
        reads=reads,
        bytes_read=sum(read.size_bytes for read in reads),
        row_groups_scanned=0,
        row_groups_total=0,
        where="emulated device",
        machine=this_machine(),
        settings=dict(facts or {}),
    )
