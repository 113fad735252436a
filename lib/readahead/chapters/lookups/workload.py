"""A counter with two doors. Through one a clerk with an index goes for one row after the other; behind the other the
whole list is handed in, and many go at once. The common bench for rows by their keys, in DuckDB's own file with an
index or in Parquet, on disks that each hold their own part of it.
"""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import numpy as np

from readahead.chapters.lookups.key_reads import NEIGHBOURS, SCATTERED, UNSORTED, Asked, plan
from readahead.devices import Device, device
from readahead.experiments.experiment import Settings
from readahead.experiments.knobs import EMULATED
from readahead.experiments.scanning import Scanning
from readahead.models.estimate import Estimate
from readahead.models.reads import Reads
from readahead.models.schedule import Costs, simulate
from readahead.units import KiB

NATIVE, PARQUET = "DuckDB's own, with an index", "Parquet"
OWN_DISK, ANY_CHANNEL = "each on its own disk", "any channel serves any"
SORTED, SHUFFLED = "in order of the key", "shuffled"
STRIPE_BYTES = 256 * KiB
"""How much lies on one disk before the next begins: longer than a row group in small groups, or a block."""
BLOCK_S, BLOCK_BYTE_S = 28e-6, 0.5e-9
"""From the arrival of a block to the next request: handing over, and checking each byte of it."""
LOCAL_BLOCK_S = 6e-6
"""The same handing over on this machine's own disk, without an emulated device in between."""
PROBE_S = 0.9e-3
"""Making ready to look into an index and putting it away, beyond what any query takes."""
ROW_S = 8e-6
"""Picking one row out of the blocks of its columns."""


class Fetching(Scanning):
    """The common bench with an index, a step, and disks that own their blocks."""

    # -- from settings to a case ---------------------------------------------------------------------
    def device(self, settings: Settings) -> Device:
        """Return the device. Its latency is a random read's, seek and all, and its bandwidth that of one disk.

        Disks that each hold their own stripes each have their own bandwidth too; any other device has its link.
        """
        rest = {name: value for name, value in settings.items() if name != "bandwidth_bytes_per_s"}
        chosen = super().device({**rest, "seek_s": 0.0}).but(seek_s=0.0)
        if self.value(settings, "where") != EMULATED:
            return chosen
        rate = float(settings.get("bandwidth_bytes_per_s", chosen.channel_bandwidth_bytes_per_s))
        chosen = chosen.but(channel_bandwidth_bytes_per_s=rate, stripe_bytes=0)
        if not self.apart(settings):
            return chosen
        stripe = STRIPE_BYTES if chosen.channels > 1 else 0
        return chosen.but(bandwidth_bytes_per_s=rate * chosen.channels, stripe_bytes=stripe)

    def apart(self, settings: Settings) -> bool:
        """Return whether a block can be had from one disk only."""
        return bool(self.value(settings, "placed") == OWN_DISK and self.value(settings, "where") == EMULATED)

    def case(self, settings: Settings) -> Asked:
        """Return the case that these settings describe."""
        plain = super().case(settings)
        own = self.value(settings, "stored") == NATIVE
        order = "shuffled" if self.value(settings, "table_order") == SHUFFLED else "key"
        recipe = replace(plain.recipe, order=order)
        more: dict[str, Any] = {}
        if own:
            block = 2 ** round(np.log2(self.value(settings, "block_bytes")))
            recipe = replace(recipe, format="native", index=True, block_bytes=block)
            more = {
                "index_scan_max_count": int(self.value(settings, "step_rows")),
                "index_scan_percentage": 0,
                "storage_block_prefetch": "ALWAYS_PREFETCH",
            }
        return Asked(
            recipe=recipe, device=plain.device, engine=replace(plain.engine, more=more),
            keys=min(plain.keys, recipe.rows // 2), seed=int(self.value(settings, "key_draw")),
            time_scale=plain.time_scale, way=self.value(settings, "asked"),
            step_rows=int(self.value(settings, "step_rows")),
        )  # fmt: skip

    # -- what will be read ---------------------------------------------------------------------------
    def plan(self, settings: Settings) -> Reads:
        """Return what DuckDB will read: exactly once the file is built, expected before."""
        return plan(self.case(settings))

    # -- the model -----------------------------------------------------------------------------------
    def costs(self, settings: Settings) -> Costs:
        """Return what the engine takes: a native file was opened when it was attached, before the clock ran."""
        case, costs = self.case(settings), super().costs(settings)
        if case.recipe.format == "parquet":
            return costs
        return replace(
            costs,
            plan_s=costs.plan_s + (PROBE_S if case.walks else 0.0),
            open_s=0.0,
            open_group_s=0.0,
            read_s=(BLOCK_S if self.value(settings, "where") == EMULATED else LOCAL_BLOCK_S)
            + BLOCK_BYTE_S * case.recipe.block_bytes,
        )

    def model(self, settings: Settings) -> Estimate:
        """Return the schedule of the planned reads as named terms."""
        case, plan, costs = self.case(settings), self.plan(settings), self.costs(settings)
        told = simulate(case.device, plan, window=case.window, costs=costs)
        opening_s = costs.plan_s + case.keys * (costs.plan_key_s + costs.open_key_s) + costs.open_s
        opening_s += len(plan.rows) * costs.open_group_s
        one_by_one = "one by one" if case.recipe.format == "native" else "footer"
        picked_s = case.keys * ROW_S if case.by_index else 0.0
        terms = {
            "open": opening_s + costs.close_s,
            one_by_one: told.opened_s - opening_s,
            "many at once": told.arrived_s - told.opened_s,
            "cpu": max(0.0, told.finished_s - costs.close_s - max(told.arrived_s, told.opened_s)) + picked_s,
        }
        hidden = max(0.0, told.decode_s / case.window.threads - terms["cpu"]) if len(plan.rows) else 0.0
        return Estimate(terms_s=terms, overlapped_s={"cpu": hidden})

    # -- what an examination draws ------------------------------------------------------------------
    def draw(self, rng: random.Random) -> dict[str, Any]:
        """Return settings whose reads take long enough to be timed: format, files, keys and device at random."""
        return self.settings(
            size="tiny",
            stored=rng.choice((NATIVE, NATIVE, PARQUET)),
            rows_per_lookup=rng.choice((1, 2, 5, 10, 25, 26, 50, 100, 300, 1_000)),
            step_rows=rng.choice((10, 25, 25, 100)),
            latency_s=float(np.exp(rng.uniform(np.log(0.001), np.log(0.015)))),
            channels=rng.choice((1, 2, 4, 8, 16, 32, 64)),
            queue_depth=rng.choice((1, 2, 4, 8, 16, 32)),
            placed=rng.choice((OWN_DISK, ANY_CHANNEL)),
            asked=rng.choice((SCATTERED, SCATTERED, UNSORTED, NEIGHBOURS)),
            table_order=rng.choice((SORTED, SORTED, SORTED, SHUFFLED)),
            row_group_rows=rng.choice((2_048, 8_192, 16_384, 65_536)),
            block_bytes=rng.choice((16, 32, 64, 256)) * KiB,
            key_draw=rng.randint(1, 1_000),
        )

    # -- knobs that move knobs -----------------------------------------------------------------------
    def follow(self, settings: Settings, changed: str) -> dict[str, Any]:
        """Set the device's numbers from the menu; a head's seek is part of a random read's latency."""
        moved = super().follow(settings, changed)
        if changed == "device":
            chosen = device(settings["device"])
            moved["latency_s"] = self.knob("latency_s").nearest(chosen.latency_s + chosen.seek_s)
            rate = chosen.channel_bandwidth_bytes_per_s
            moved["bandwidth_bytes_per_s"] = self.knob("bandwidth_bytes_per_s").nearest(rate)
            moved["placed"] = OWN_DISK if chosen.stripe_bytes else ANY_CHANNEL
        return moved

    def disabled(self, settings: Settings) -> dict[str, str]:
        """Say which knobs do nothing now, and why."""
        reasons = super().disabled(settings)
        if self.value(settings, "stored") == PARQUET:
            why = "A Parquet file has no index and no blocks; its row groups are read, many at once."
            reasons |= {"step_rows": why, "block_bytes": why}
        if self.value(settings, "where") != EMULATED:
            reasons["placed"] = "On this machine's own disk blocks lie where the system put them."
        if self.value(settings, "query") != "lookup":
            reasons |= dict.fromkeys(("step_rows", "asked", "key_draw"), "A scan asks for every row.")
        elif self.case(settings).by_index:
            alone = "Through the index DuckDB asks for one block at a time, whatever could be under way."
            reasons |= dict.fromkeys(("queue_depth", "channels", "placed"), alone)
        return reasons
