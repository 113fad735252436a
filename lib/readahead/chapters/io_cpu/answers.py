"""The computed answers of the exercises, and the two sides of each claim."""

from __future__ import annotations

from readahead.chapters.io_cpu import laws
from readahead.chapters.io_cpu.chapter import cores, on_bandwidth
from readahead.chapters.io_cpu.cpu_time import cpu_value
from readahead.chapters.io_cpu.page_costs import printed, sigma
from readahead.chapters.io_cpu.workload import EVERY, QUERY_1, SUM
from readahead.experiments.claim import Sides
from readahead.experiments.knobs import DISK_WARM
from readahead.questions.exercise import Computed
from readahead.units import GB, MB

CLAIMS = {
    "sums_differ": Sides(
        left=lambda study: cpu_value(study.sample(report=QUERY_1, where=DISK_WARM)),
        right=lambda study: cpu_value(study.sample(report=SUM, where=DISK_WARM)),
    ),
    "more_workers": Sides(
        left=lambda study: study.measured.seconds(report=QUERY_1, where=DISK_WARM, threads=cores()),
        right=lambda study: study.measured.seconds(report=QUERY_1, where=DISK_WARM, threads=1),
        when={"this_machine_has": lambda left, right, study: cores() == 1},
    ),
    "slope": Sides(
        left=lambda study: study.measured.seconds(**on_bandwidth(200 * MB, EVERY)),
        right=lambda study: study.measured.seconds(**on_bandwidth(50 * MB, EVERY)),
    ),
    "model_holds": Sides(
        left=lambda study: study.measured.seconds(**on_bandwidth(200 * MB)),
        right=lambda study: study.model.seconds(**on_bandwidth(200 * MB)),
    ),
}

ANSWERS = {
    "evict": Computed(
        answer=lambda _: printed("load_and_evict_cpu_per_page_s") - printed("cpu_per_page_s.disk.r1"),
        matches={
            "the_whole_is": lambda given: given > 6e-6,
            "fetching_is_evicting": lambda given: 4e-6 < given < 5e-6,
        },
    ),
    "upgrade": Computed(answer=lambda _: laws.cores_for(4 * GB, 360 * MB, sigma())),
}
