"""A toy chapter, small enough to hold in the hand: a well, a bucket, and a rope of a certain length.

It has everything that a chapter has (experiment, rounds, predictions, claims, exercises, a figure), and its
measurement is arithmetic with a fixed wobble, so that what the teaching layer says of it is known beforehand.
"""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

import numpy as np

from readahead.chapters import Chapter, Place
from readahead.experiments.claim import Claim, Reason
from readahead.experiments.experiment import Experiment, Knob, Settings
from readahead.experiments.figure import Axis, Line, Picture
from readahead.experiments.round import Round, Study
from readahead.measure import calibrate
from readahead.measure.sample import Sample, this_machine
from readahead.models.estimate import Estimate
from readahead.published import Figure, Ratio
from readahead.questions.answers import Amount, Choice, Order, Several
from readahead.questions.question import Exercise, Misconception, Prediction
from readahead.running import check, tell

WATER = {"tiny": 1e6, "small": 1e7, "full": 1e8}
RATE = 1e8
SLOWER_HERE = 1.2
"""The toy's engine is this much slower than its model."""
calibrate.strayed = lambda took_s: 0.0  # what it takes is written here, however busy the machine is
calibrate.OtherPrograms.share = lambda self: 0.0


class Well(Experiment):
    """Water to fetch, a bucket, a rope."""

    def model(self, settings: Settings) -> Estimate:
        """Every bucket pays the rope once."""
        water = WATER[settings["size"]]
        buckets = water / settings["bucket_bytes"]
        return Estimate(terms_s={"rope": buckets * settings["rope_s"], "pouring": water / RATE})

    def measure(self, settings: Settings, repeats: int = 3) -> Sample:
        """Fetch it, with a wobble that is the same each time."""
        seconds = []
        for repeat in range(repeats):
            tell(repeat, repeats, f"Bucket run {repeat + 1} of {repeats}")
            over_s = time.monotonic() + settings["pause_s"]
            check()
            while time.monotonic() < over_s:
                time.sleep(0.005)
                check()
            wobble = 1 + settings["wobble"] * (-1) ** repeat * (0.5 + 0.5 * repeat / repeats)
            seconds.append(self.model(settings).seconds * SLOWER_HERE * wobble)
        return Sample(
            seconds=tuple(seconds),
            cpu_s=(0.0,) * repeats,
            reads=(),
            bytes_read=1,
            row_groups_scanned=1,
            row_groups_total=1,
            where="toy well",
            machine=this_machine(),
        )

    def work(self, settings: Settings) -> float:
        """The water."""
        return WATER[settings["size"]]

    def unit(self, settings: Settings) -> str:
        """Bytes a second."""
        return "bytes_per_s"


EXPERIMENT = Well(
    topic="toy",
    title="The well",
    knobs=(
        Knob(name="rope_s", label="Rope", kind="s", default=1e-3, low=1e-5, high=1e-1),
        Knob(name="bucket_bytes", label="Bucket", kind="bytes", default=65536, low=4096, high=2**23),
        Knob(name="size", label="Size", kind="choice", default="tiny", choices=("tiny", "small", "full")),
        Knob(name="wobble", label="Wobble", kind="1", default=0.01, low=0.0, high=0.9, folded=True),
        Knob(name="pause_s", label="Pause", kind="s", default=0.0, low=0.0, high=5.0, folded=True),
    ),
)

_OLD_WELL = Figure(
    name="old_well",
    value=0.03,
    unit="s",
    printed="30 ms",
    system="A stone well",
    device="rope",
    date="1850",
    author="A. Farmer",
    title="On Fetching Water",
)

_DEEP_WELL = replace(_OLD_WELL, name="deep_well", value=0.12, printed="120 [ms]")
ROUNDS = {
    "fetch": Round(ask=lambda see: see.seconds(), published=(_OLD_WELL,)),
    "longer_rope": Round(
        ask=lambda see: see.seconds(rope_s=1e-2) / see.seconds(rope_s=1e-3),
        beside=(
            Ratio(says="a long rope over a short one", figure=_DEEP_WELL, over=_OLD_WELL),
            *(Ratio(says=f"rope {n}", figure=_DEEP_WELL, over=_OLD_WELL, asked="two") for n in range(2, 9)),
        ),
        analogues={"two": lambda study, told: len(told.says) / 3},
    ),
    "which": Round(ask=lambda see: see.seconds(bucket_bytes=4096) / see.seconds(bucket_bytes=2**20)),
    "half": Round(model=lambda study: study.base["rope_s"] * RATE),
}


def _yield(study: Study) -> Picture:
    sizes = np.geomspace(4096, 2**23, 40)
    rates = EXPERIMENT.curve(study.base, "bucket_bytes", sizes)
    half = study.base["rope_s"] * RATE
    return Picture(
        title="A larger bucket",
        sentence="The larger the bucket, the more water a second, up to the pouring rate.",
        x=Axis(label="bucket", kind="bytes"),
        y=Axis(label="water a second", kind="bytes_per_s"),
        lines=(Line(name="model", points=list(zip(sizes.tolist(), rates.tolist(), strict=True))),),
        marks={"half speed": half},
    )


FIGURES = {"yield": _yield}

PREDICTIONS = (
    Prediction(
        id="fetch",
        kind="s",
        low=1e-4,
        high=10,
        word="ms",
        because="Every bucket pays the rope once.",
    ),
    Prediction(
        id="longer_rope",
        kind="times",
        low=1,
        high=100,
        differs="Ropes of 1850 were heavier.",
    ),
    Prediction(
        id="which",
        choices=("slower", "faster"),
        choice_of=lambda ratio: "slower" if ratio > 1 else "faster",
    ),
    Prediction(
        id="half",
        kind="bytes",
        low=1e3,
        high=1e7,
        word="KiB",
    ),
)

CLAIMS = (
    Claim(
        id="rope_costs",
        relation="faster than",
        left={"rope_s": 1e-4},
        right=lambda study: study.measured.seconds(rope_s=1e-2),
        left_name="short rope",
        right_name="long rope",
    ),
    Claim(
        id="model_fits",
        relation="within",
        tolerance=0.1,
        left=lambda study: study.measured.seconds(),
        right=lambda study: study.model.seconds(),
        left_name="measured",
        right_name="modeled",
        reasons=(
            Reason(says="The rope was frayed.", when=lambda left, right, study: left.median < right.median),
            Reason(
                says="The farmer rests at each bucket.",
                when=lambda left, right, study: left.median > right.median,
            ),
        ),
    ),
)

_BUCKETS = ("a thimble", "a bucket", "a barrel")
EXERCISES = (
    Exercise(
        id="half_bucket",
        shape=Amount(kind="bytes", tolerance=0.08, word="KiB"),
        answer=lambda study: study.base["rope_s"] * RATE,
        misconceptions=(
            Misconception(
                name="the bucket that fills in a second", example="100 MB", hint="How long is the rope?"
            ),
            Misconception(
                name="there and back twice",
                example=lambda study: 2 * study.base["rope_s"] * RATE,
                hint="The rope is paid once a bucket.",
            ),
        ),
        hints=("Write down both times.", "Set them equal.", "Rope = bucket / rate."),
        solution="Rope time × pouring rate.",
    ),
    Exercise(
        id="bottleneck",
        shape=Choice(options=("Rope", "Pouring", "Walking home")),
        answer="Rope",
        misconceptions=(
            Misconception(name="more water, more time", example="Pouring", hint="The water is the same."),
            Misconception(
                name="small is quick",
                example="Walking home",
                hint="One thimble is quick; how many are there?",
            ),
        ),
        hints=("Count the thimbles.", "Each one pays the rope.", "Rope × count against pouring."),
        solution="The rope is paid for every thimble.",
    ),
    Exercise(
        id="what_helps",
        shape=Several(options=("a shorter rope", "a larger bucket", "a faster stream")),
        answer=("a larger bucket", "a shorter rope"),
        misconceptions=(
            Misconception(
                name="bandwidth cures all", example=["a faster stream"], hint="Is pouring the bottleneck?"
            ),
            Misconception(
                name="all of it helps", example=["a", "b", "c"], hint="One of them is not the bottleneck."
            ),
        ),
        hints=("Find the bottleneck.", "What lies in that term?", "Rope and number of buckets."),
        solution="Only what is in the rope term.",
    ),
    Exercise(
        id="rank",
        shape=Order(options=_BUCKETS, first="the fastest"),
        answer=("a barrel", "a bucket", "a thimble"),
        misconceptions=(
            Misconception(name="small is quick", example="a, b, c", hint="How often is the rope paid?"),
            Misconception(name="the middle is best", example=["b", "a", "c"], hint="Is there a middle here?"),
        ),
        hints=("Count ropes.", "Fewer is faster.", "The barrel needs the fewest."),
        solution="By number of ropes.",
    ),
)

CHAPTER = Chapter(
    place=Place(number=90, topic="toy"),
    experiment=EXPERIMENT,
    rounds=ROUNDS,
    figures=FIGURES,
    predictions=PREDICTIONS,
    claims=CLAIMS,
    exercises=EXERCISES,
)


def study(**settings: Any) -> Study:
    """Return a study for the toy."""
    return Study(EXPERIMENT, **settings)
