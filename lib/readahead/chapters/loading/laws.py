"""The laws of loading: what bounds many writers, what a commit costs each row, and when one time is really better than
another.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from statistics import NormalDist

import numpy as np

from readahead.devices import Device
from readahead.errors import require_range
from readahead.measure import scalability


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadCosts:
    """What a load takes besides the device, in seconds."""

    batch_s: float
    """Making a batch, whatever its size, while no other writer does."""
    row_s: float
    """The same, for each row."""
    row_share: float = 1.0
    """The share of that a row takes while several batches are made at once: with two cores half of it at best."""
    share_2: float = 1.0
    """While two batches are made at once one is ready after each such share of `batch_s`, its rows left out."""
    share_4: float = 1.0
    """The same while four are made."""
    share_8: float = 1.0
    """The same while eight are made."""
    share_64: float = 1.0
    """The same while 64 are made."""
    start_s: float = 0.0
    """Starting and ending, and what the first batch takes more, whatever the writers are."""
    writer_s: float = 0.0
    """Ending each writer, when all is written."""
    bytes_per_row: float
    """Written for each row."""
    wake_8_s: float = 0.0
    """What a batch takes longer when its writer has waited 8 ms, see `woken_s`."""
    wake_32_s: float = 0.0
    """The same after 32 ms."""

    def made_s(self, rows: int, batches: float = 1) -> float:
        """Return how long a batch of so many rows takes while so many are made at once, 64 at most.

        On straight lines between 1, 2, 4, 8 and 64. On two cores each further batch adds 0.6 of a lone one's time up to
        four, and 0.95 above eight, where more threads take turns and each finds the caches full of the others' data.
        Rows are made one after the other and lose little to that: with 2, 4, 8, 16, 32 and 64 writers each takes 0.64,
        0.52, 0.44, 0.58, 0.61 and 0.70 of its time alone.
        """
        shares = (1.0, self.share_2, self.share_4, self.share_8, self.share_64)
        times = float(np.interp(batches, MADE_AT_ONCE, np.multiply(MADE_AT_ONCE, shares)))
        return self.batch_s * times + rows * self.row_s * max(1.0, self.row_share * batches)

    def woken_s(self, wait_s: float) -> float:
        """Return how much longer a batch takes whose writer has waited so long: others use the processor meanwhile.

        On straight lines between none, 8 and 32 ms, and no more from there on. After 4, 8, 16, 24, 32 and 40 ms one of
        1.8 ms takes 0.3, 0.4, 1.3, 2.0, 2.5 and 2.5 ms more. In another hour sixteen runs after 0.4 to 40 ms lay about
        a curve that passes 0.5, 0.9, 1.2, 1.4, 1.5 and 1.5 there.
        """
        return float(np.interp(wait_s, (0.0, *WAITED_S), (0.0, self.wake_8_s, self.wake_32_s)))


MADE_AT_ONCE = (1, 2, 4, 8, 64)
"""For so many batches made at once `LoadCosts` has a share."""
WAITED_S = (8e-3, 32e-3)
"""For so long a wait `LoadCosts` has what a batch takes longer."""


# -- many writers ----------------------------------------------------------------------------------------
def batch_service_s(device: Device, size_bytes: float) -> float:
    """Return how long the device takes until a batch is safe: 2 L + S / B, a latency to write and one to sync."""
    rate = min(device.channel_bandwidth_bytes_per_s, device.bandwidth_bytes_per_s)
    return 2 * device.latency_s + size_bytes / rate


def load_s(device: Device, costs: LoadCosts, *, writers: int, commit_rows: int, batches: int) -> float:
    r"""Return the seconds until writers, each making one file of `commit_rows` rows after another, are through.

    Of N writers each comes round after t, so that B batches take

    .. math:: \frac{B - N}{N} \, t + f

    where the first N batches, all begun at once, are safe after f: they pass the slowest station one after the other,
    as many abreast as it serves at a time. What starting and ending take is in f too. On two cores two of them
    are made at a time, so that a device with C channels is not busy before C + 1 have been made one after the other.
    """
    size_bytes, writers = commit_rows * costs.bytes_per_row, min(writers, batches)
    made_s, wait_s = partial(costs.made_s, commit_rows), batch_service_s(device, size_bytes)
    alone_s, make_s, woken_s = made_s(), made_s(writers) / writers, costs.woken_s(wait_s)
    link_s = size_bytes / device.bandwidth_bytes_per_s  # in the wait already
    last_s = (writers - 1) * make_s
    for serves_s, abreast in ((wait_s, device.channels), (link_s, 1)):
        busy_s = max(0.0, min(writers, abreast + 1) * make_s - alone_s)
        last_s = max(last_s, busy_s + max(0, writers - abreast) * serves_s / abreast)
    first_s = last_s + alone_s + wait_s + costs.start_s + writers * costs.writer_s
    round_s = cycle_s(writers, made_s, wait_s, device.channels, link_s, rest_s=woken_s)
    return (batches - writers) / writers * round_s + first_s


def cycle_s(
    writers: int,
    made_s: Callable[[float], float],
    wait_s: float,
    channels: int,
    link_s: float = 0.0,
    *,
    rest_s: float = 0.0,
) -> float:
    r"""Return the seconds after which each of so many writers comes round.

    While m batches are made at once each takes a(m) (`made_s`). Until a batch is safe it keeps one of C `channels` for
    w (`wait_s`); one that finds fewer than C there need not wait for a channel. In that time it crosses the link in l
    (`link_s`): it waits behind those that it finds, of which one has half crossed, and its sync, which follows at once,
    behind all that came meanwhile. The rest of a round (`rest_s`) waits for nobody. The n-th writer finds everything as
    n - 1 have it among themselves: j of them make batches for a share p(j) of the time, q_1 keep a channel, q_2 cross
    the link or wait for it, which is busy for a share u of the time:

    .. math:: t_n = r + \sum_{j=1}^{n} a(j) \, p_{n-1}(j-1) + w \left(1 + \frac{\max(0, q_1 - C + 1)}{C}\right)
              + l \left(q_2 - \frac{u}{2}\right) + l \, q_2, \qquad
              p_n(j) = \frac{n}{t_n} \, \frac{a(j)}{j} \, p_{n-1}(j-1)

    Source: M. Reiser and S. S. Lavenberg, Mean-value analysis of closed multichain queueing networks, 1980; several
    served at a time as if each batch took as long as any other, which it does.
    """
    batches = np.arange(1, writers + 1)
    made = np.array([made_s(at_once) for at_once in batches.tolist()])
    making, kept, crossing, busy = np.eye(1, writers + 1)[0], 0.0, 0.0, 0.0
    for n in range(1, writers + 1):
        kept_s = wait_s * (1 + max(0.0, kept - channels + 1) / channels)
        behind_s, sync_s = link_s * (crossing - busy / 2), link_s * crossing
        round_s = rest_s + float(made @ making[:-1]) + kept_s + behind_s + sync_s
        making[1:] = n / round_s * made / batches * making[:-1]
        making[0] = max(0.0, 1 - making[1:].sum())
        making /= making.sum()
        kept, crossing, busy = (n * each_s / round_s for each_s in (kept_s, link_s + behind_s, link_s))
    return round_s


def writers_gain(
    writers: float, *, make_s: float, wait_s: float, channels: float, link_s: float = 0.0
) -> float:
    r"""Return how many times the rows of one writer so many writers load at most, each into files of its own.

    .. math:: \min\left(N, \; \frac{c + w}{c}, \; C \, \frac{c + w}{w}, \; \frac{c + w}{l}\right)

    where N (`writers`) writers each make a batch in c (`make_s`) and wait w (`wait_s`) until it is safe and they go on.
    Batches are made one after the other in one process; the device makes C (`channels`) safe at a time, and its link
    passes each in l (`link_s`). Near a bound they stand in each other's way and come to less: see `cycle_s`.

    Source: P. J. Denning and J. P. Buzen, The operational analysis of queueing network models, 1978.
    """
    each_s = make_s + wait_s
    return min(writers, each_s / make_s, channels * each_s / wait_s, each_s / max(link_s, 1e-12))


def capacity(writers: float, contention: float, crosstalk: float) -> float:
    r"""Return how many times the work of one so many do: the Universal Scalability Law.

    .. math:: \frac{N}{1 + a \, (N - 1) + b \, N (N - 1)}

    where N (`writers`) work at once; a (`contention`) is the share of the work that only one of them can do at a
    time, so that the others wait; and b (`crosstalk`) is what each pair of them costs to agree, as a share of the
    work of one.

    Source: N. J. Gunther, A simple capacity model of massively parallel transaction systems, 1993; with b = 0 it is
    Amdahl's law, 1967.
    """
    return writers / (1 + contention * (writers - 1) + crosstalk * writers * (writers - 1))


def peak(contention: float, crosstalk: float) -> float:
    r"""Return the number of writers past which more do less: where `capacity` is largest.

    .. math:: \sqrt{(1 - a) / b}

    where a (`contention`) is the share that is waited for, and b (`crosstalk`) what each pair costs.

    Source: N. J. Gunther, A simple capacity model of massively parallel transaction systems, 1993.
    """
    return scalability.Law(alone=1.0, contention=contention, crosstalk=crosstalk).peak


# -- commits ---------------------------------------------------------------------------------------------
def commit_time_s(rows: float, commit_rows: float, *, commit_s: float, row_s: float) -> float:
    r"""Return the seconds to load rows with a commit after every so many of them.

    .. math:: \lceil n / k \rceil \, c + n r

    where n (`rows`) rows are loaded, k (`commit_rows`) in a commit, and a commit takes c (`commit_s`) whatever is in
    it, a row r (`row_s`).
    """
    return math.ceil(rows / commit_rows) * commit_s + rows * row_s


def commit_gain(few_rows: float, many_rows: float, *, commit_s: float, row_s: float) -> float:
    r"""Return how many times as much a row costs in small commits as in large ones.

    .. math:: \frac{c / k_1 + r}{c / k_2 + r}

    where k₁ (`few_rows`) and k₂ (`many_rows`) are the rows of a commit, which takes c (`commit_s`) whatever is in
    it, and a row takes r (`row_s`).
    """
    return (commit_s / few_rows + row_s) / (commit_s / many_rows + row_s)


# -- is a difference one? --------------------------------------------------------------------------------
def runs_to_settle(difference: float, spread: float, *, confidence: float = 0.95, power: float = 0.9) -> int:
    r"""Return how many runs of each of two set-ups show a true difference, so often as `power` says.

    .. math:: n \ge 2 \, (t_1 + t_2)^2 \left(\frac{s}{d}\right)^2

    where d (`difference`) is the true difference and s (`spread`) the standard deviation of single runs, both as
    shares of the mean. t₁ belongs to how sure one wants to be (`confidence`) and t₂ to how often the difference is
    to be seen (`power`): 1.96 and 1.28 for 95 % and nine times in ten where runs are many, and more where they are few,
    because their scatter is then known badly itself (Student's t, of 2 n - 2 degrees of freedom).

    Source: G. W. Snedecor and W. G. Cochran, Statistical Methods, 1989.
    """
    from scipy.stats import t

    require_range("difference", difference, low=1e-9, advice="Give a share of the mean, such as 0.02.")
    require_range("spread", spread, low=0, advice="Give the spread of at least two runs.")
    many = NormalDist()
    both, runs = many.inv_cdf((1 + confidence) / 2) + many.inv_cdf(power), 0
    while (needed := max(2, math.ceil(2 * (both * spread / difference) ** 2))) > runs:
        runs = runs + 1 if runs else needed  # what the normal law asks for is never too many
        both = float(t.ppf((1 + confidence) / 2, 2 * runs - 2) + t.ppf(power, 2 * runs - 2))
    return runs


def spread(times: Sequence[float]) -> float:
    r"""Return how far single runs scatter: their standard deviation as a share of their mean.

    .. math:: \frac{1}{\bar x} \sqrt{\frac{\sum (x_i - \bar x)^2}{n - 1}}

    where the x are the times (`times`) of n runs, two or more.
    """
    require_range(
        "runs", len(times), low=2, advice="One run does not show how far runs scatter. Run it more often."
    )
    return float(np.std(times, ddof=1) / np.mean(times))


def difference(first: Sequence[float], second: Sequence[float]) -> float:
    """Return by how much the mean of the second times differs from that of the first, as a share of it."""
    return float(np.mean(second) / np.mean(first) - 1)


def half_width(first: Sequence[float], second: Sequence[float], *, confidence: float = 0.95) -> float:
    r"""Return by how much that difference may be wrong to either side, as a share of the first mean.

    .. math:: \frac{t}{\bar x_1} \sqrt{\frac{s_1^2}{n_1} + \frac{s_2^2}{n_2}}

    where s are the standard deviations of the times (`first`, `second`), n their numbers, and t is Student's, with
    Welch's degrees of freedom. One run of a set-up has no standard deviation: nothing is known, it is infinite.

    Source: B. L. Welch, The generalization of Student's problem when several different population variances are
    involved, 1947.
    """
    from scipy.stats import t

    if min(len(first), len(second)) < 2:
        return math.inf
    one, two = (float(np.var(times, ddof=1)) / len(times) for times in (first, second))
    if one + two == 0:
        return 0.0
    freedom = (one + two) ** 2 / (one**2 / (len(first) - 1) + two**2 / (len(second) - 1))
    return float(t.ppf((1 + confidence) / 2, freedom)) * math.sqrt(one + two) / float(np.mean(first))
