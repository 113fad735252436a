"""One chart, four knobs: the first bench a learner meets. Fragment size, row-group size, rows per lookup and device
latency, on a table that takes a second to build."""

from __future__ import annotations

from readahead.devices import device
from readahead.experiments.knobs import knob
from readahead.experiments.scanning import Scanning
from readahead.measure.engine import spare_threads

_DEFAULT = device("object-store")

EXPERIMENT = Scanning(
    topic="start_here",
    title="Where does the time go?",
    knobs=(
        knob("device", default=_DEFAULT.name),
        knob("query"),
        knob("latency_s", default=_DEFAULT.latency_s),
        knob("row_group_rows"),
        knob("fragment_bytes"),
        knob("rows_per_lookup"),
        knob("bandwidth_bytes_per_s", default=_DEFAULT.bandwidth_bytes_per_s),
        knob("channels", default=_DEFAULT.channels),
        knob("seek_s"),
        knob("queue_depth"),
        knob("threads", default=spare_threads()),
        knob("dataset"),
        knob("size"),
        knob("where"),
        knob("time_scale"),
    ),
)
