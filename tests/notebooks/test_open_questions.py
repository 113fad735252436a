"""A question can be answered from what stands above it, and its answer does not stand there."""

from __future__ import annotations

import json
import re

import pytest
from skeleton import source

from readahead import paths
from readahead.chapters import CONTENTS, chapter
from readahead.experiments.round import Study
from readahead.measure import calibrate


def above(notebook: str, call: str) -> tuple[str, str]:
    """Return all words and code of a notebook above a question, and the words of the question itself."""
    cells = json.loads((paths.NOTEBOOKS / notebook).read_text(encoding="utf-8"))["cells"]
    at = next(number for number, cell in enumerate(cells) if call in source(cell))
    return "\n".join(source(cell) for cell in cells[: at - 1]), source(cells[at - 1])


GIVEN = {
    ("00_start_here.ipynb", "drive"): (
        "16 reads",
        "eight in flight",
        "45 µs",
        "875 MB/s",
        "2 ms",
        "of cpu",
    ),
    ("00_start_here.ipynb", "small_groups"): ("128 reads", "eight in flight", "30 ms", "90 MB/s", "64 ms"),
    ("00_start_here.ipynb", "pieces"): ("262,144", "4.8 MB", "90 MB/s", "3.51 ms", "6 ms"),
    ("00_start_here.ipynb", "ten_rows"): ("4.6 MiB", "16 row groups", "as a whole, or not at all"),
    ("02_read_ahead.ipynb", "shea"): ("16,384 MB", "210 s"),
    ("02_read_ahead.ipynb", "file_copy"): ("262,144", "3 GB/s", "100 µs"),
    ("02_read_ahead.ipynb", "switch"): ("16 row groups", "2 ms", "90 MB/s", "17 reads", "194 reads"),
    ("02_read_ahead.ipynb", "switch_native"): ("49 reads", "64 KiB", "73"),
    ("02_read_ahead.ipynb", "depth"): ("130 reads", "5 ms", "90 MB/s"),
    ("02_read_ahead.ipynb", "alone"): ("130 reads", "64 MiB", "16 MiB", "one worker"),
    ("02_read_ahead.ipynb", "waste"): ("128 row groups", "two reads for the footer"),
    ("02_read_ahead.ipynb", "hole"): ("131 KB", "168 KB", "5 ms", "90 MB/s"),
    ("01_fragments.ipynb", "yield"): ("524,288", "9.9 ms", "100 MB/s"),
    ("01_fragments.ipynb", "half_speed"): ("9.9 ms", "100 MB/s"),
    ("01_fragments.ipynb", "rebuild"): ("225 pages", "1,767", "8,192", "9.9 ms", "100 MB/s"),
    ("01_fragments.ipynb", "one_head"): ("128 requests of 128 KiB", "9.9 ms", "0.1 ms", "100 MB/s"),
    ("01_fragments.ipynb", "eight_heads"): ("128 requests of 128 KiB", "disks as above"),
    ("01_fragments.ipynb", "flash"): ("67 µs", "560 MB/s"),
    ("03_row_groups.ipynb", "groups"): ("36,585,420", "1,048,576"),
    ("03_row_groups.ipynb", "text"): ("36,585,420", "105,000 rows"),
    ("03_row_groups.ipynb", "dictionary"): ("137 bytes", "90 of them", "11 bytes a row"),
    ("03_row_groups.ipynb", "near"): (
        "128 reads",
        "8 groups",
        "eight in flight",
        "45 µs",
        "875 MB/s",
        "machine card",
    ),
    ("03_row_groups.ipynb", "far"): (
        "128 small groups",
        "eight reads in flight",
        "30 ms",
        "90 MB/s",
        "65 ms",
        "33 ms",
    ),
    ("03_row_groups.ipynb", "moves"): ("45 µs to 30 ms", "a tenth longer", "0.15 µs", "2,048 to 1,048,576"),
    ("03_row_groups.ipynb", "too_large"): ("whole table, 4.8 MB", "30 ms", "90 MB/s", "33 ms to open"),
    ("03_row_groups.ipynb", "packed"): ("32 reads", "44.8 MB against 14.8 MB", "90 MB/s", "35 ms", "65 ms"),
    ("03_row_groups.ipynb", "here"): ("1,024 reads against 64", "machine card", "2,097,152 rows"),
    ("03_row_groups.ipynb", "counter"): ("12.9 s", "86,944 pages of 8"),
    ("04_io_cpu.ipynb", "load"): ("the two columns above",),
    ("04_io_cpu.ipynb", "rows158"): ("2.59 µs at 20 rows", "3.40 µs at 40"),
    ("04_io_cpu.ipynb", "rows323"): ("15.01 µs at 80 rows", "28.48 µs at 158"),
    ("04_io_cpu.ipynb", "load_here"): ("4.3 µs",),
    ("04_io_cpu.ipynb", "evict_here"): ("just over 3 µs",),
    ("04_io_cpu.ipynb", "query1"): ("200 MB", "360 MB to 1.5 GB", "one column"),
    ("04_io_cpu.ipynb", "cores"): ("machine card", "N / (1 + s (N - 1))", "0.033"),
    ("04_io_cpu.ipynb", "knee"): ("the processor time and the bytes of all columns, above",),
    ("04_io_cpu.ipynb", "tenfold"): ("one worker", "the bytes of Query 1, above"),
    ("11_your_data.ipynb", "touched"): ("a tenth", "row groups, above", "all posts"),
    ("11_your_data.ipynb", "other_groups"): (
        "reads and the terms above",
        "30 ms",
        "90 MB/s",
        "one row group",
    ),
    ("11_your_data.ipynb", "other_order"): ("a tenth of the bytes", "what it takes above"),
    ("06_index_pages.ipynb", "upper"): ("million leaf pages", "13 bytes", "8,096 bytes"),
    ("06_index_pages.ipynb", "all_leaves"): (
        "10 pages",
        "258 reads",
        "64 KB",
        "2.44 ms",
        "32.2 MB/s",
        "32 of them",
    ),
    ("06_index_pages.ipynb", "behind"): ("282 s", "63,012", "14.5 MB/s"),
    ("06_index_pages.ipynb", "eighth"): ("44 reads", "64 KB", "8 KB", "2.44 ms", "32.2 MB/s"),
    ("06_index_pages.ipynb", "map"): ("43 pages", "32 reads", "8 KB", "2.44 ms", "32.2 MB/s"),
    ("06_index_pages.ipynb", "sample_native"): ("8 reads", "9 reads", "30 ms"),
    ("06_index_pages.ipynb", "wrong"): ("13 row groups", "128", "50 %"),
    ("06_index_pages.ipynb", "wrong_shuffled"): ("13 row groups", "2,048 rows"),
    ("07_elimination.ipynb", "unsorted"): ("one row in eighty", "37 row groups", "8,192 rows"),
    ("07_elimination.ipynb", "sorted"): ("37 row groups", "one row in eighty"),
    ("07_elimination.ipynb", "disorder"): ("a tenth of the table",),
    ("07_elimination.ipynb", "year"): ("530.02 s", "seven years", "four for all"),
    ("07_elimination.ipynb", "quantity"): ("26 to 35", "1 to 50", "37 row groups"),
    ("07_elimination.ipynb", "bloom"): ("37 row groups", "eight reads", "10 ms"),
    ("08_cache_tiers.ipynb", "uniform"): ("64 row groups", "32 of them"),
    ("08_cache_tiers.ipynb", "favourites"): ("64 row groups", "32 of them", "skew of 1", "Che's law above"),
    ("08_cache_tiers.ipynb", "too_small"): ("64 row groups", "57", "least recently used"),
    ("08_cache_tiers.ipynb", "scan_gain"): ("the run above", "64 reads of 20 ms", "two at a time"),
    ("08_cache_tiers.ipynb", "spill"): ("terms of the model above", "20 wait", "10 ms", "330 KB"),
    ("08_cache_tiers.ipynb", "short_blocks"): ("165 KB", "256 KiB"),
    ("08_cache_tiers.ipynb", "second"): ("the second run above", "32 times", "19 different", "10 ms"),
    ("08_cache_tiers.ipynb", "fourth"): ("16 of 19", "what the second run found"),
    ("08_cache_tiers.ipynb", "tiny_blocks"): ("64 reads", "1,333 reads", "eight", "2 ms"),
    ("08_cache_tiers.ipynb", "break_even"): ("200 dollars", "500,000", "4 KiB", "4 dollars a GiB"),
    ("09_scale_out.ipynb", "warm"): ("the two tables", "2.18", "2.39"),
    ("09_scale_out.ipynb", "anomaly"): ("the tables above", "207.99 s", "366.32 s"),
    ("09_scale_out.ipynb", "two"): ("128 row groups", "one read at a time", "8 ms", "two reads", "15 ms"),
    ("09_scale_out.ipynb", "requests"): ("128 reads of 20 ms", "20 at once", "32 at once", "15 ms"),
    ("09_scale_out.ipynb", "slow"): ("66 reads in a row", "2.5 ms", "three times", "15 ms"),
    ("09_scale_out.ipynb", "killed"): ("as much to read", "half of its part", "100 ms"),
    ("09_scale_out.ipynb", "pushed"): ("3 MiB", "2 MB", "two nodes", "10 MB/s", "eight more messages"),
    ("10_loading.ipynb", "runs"): ("2 %", "2.1 %", "nine times in ten", "95 %"),
    ("10_loading.ipynb", "files"): ("the time above", "64 batches", "two latencies of 4 ms", "16 at a time"),
    ("10_loading.ipynb", "database"): ("the same batches", "one log"),
    ("10_loading.ipynb", "durability"): ("the two loads above", "10 rows", "1,000"),
    ("02_read_ahead.ipynb", "nolock"): ("367 MB/s", "192 KB", "384 KB", "takes no longer"),
    ("02_read_ahead.ipynb", "switch_here"): ("194 reads", "17", "machine card", "45 µs"),
    ("06_index_pages.ipynb", "deep"): ("chain of 44 reads", "128 at once"),
    ("06_index_pages.ipynb", "sampled"): ("63,012 pages", "one leaf page in a hundred", "282 s", "3,700 s"),
    ("06_index_pages.ipynb", "sample_parquet"): ("10 %", "128 row groups", "30 ms", "32 reads"),
    ("07_elimination.ipynb", "gain"): ("thirteen queries",),
    ("07_elimination.ipynb", "day"): ("its year, its month, its week", "loaded by year"),
    ("07_elimination.ipynb", "small_groups"): ("147 row groups", "19 row groups", "1.7 KB", "7.5 bytes"),
    ("07_elimination.ipynb", "folders"): ("seven in all", "a join", "fewer reads"),
    ("07_elimination.ipynb", "price"): ("sorted by date", "as they lie"),
    ("08_cache_tiers.ipynb", "eighty"): ("two tiers given above", "four hits in five"),
    ("09_scale_out.ipynb", "copy"): ("both nodes alive", "only reads"),
    ("10_loading.ipynb", "spread"): ("ten times in a row", "nothing changed"),
    ("05_lookups.ipynb", "one_by_one"): ("4.1 ms", "1.04 reads a row", "one read at a time"),
    ("05_lookups.ipynb", "disks"): ("25 rows", "1 ms", "16 KiB"),
    ("05_lookups.ipynb", "balls"): ("26 reads", "eight disks", "4.1 ms"),
    ("05_lookups.ipynb", "eight"): ("the terms above", "1 ms"),
    ("05_lookups.ipynb", "little"): ("1,026.8", "8.6 ms"),
    ("05_lookups.ipynb", "wait"): ("24 row groups", "eight disks"),
    ("05_lookups.ipynb", "step"): ("144 reads", "29 reads", "136", "many at once"),
    ("05_lookups.ipynb", "distinct"): ("100 random keys", "128", "1 - 1/128"),
    ("05_lookups.ipynb", "break_even"): ("25 rows", "the two times above"),
}
"""What stands with a question."""
HIDDEN = {
    ("00_start_here.ipynb", "drive"): r"\b[56]\d(?:\.\d)? ms|bottleneck has moved",
    ("00_start_here.ipynb", "small_groups"): r"\b1\.[01]\d? s|32 waves",
    ("00_start_here.ipynb", "pieces"): r"\b14[56] |0\.9\d? s",
    ("00_start_here.ipynb", "ten_rows"): r"\b1[67][.\d]* MiB|eight of",
    ("02_read_ahead.ipynb", "shea"): r"\b7[89] ?MB|\b80 ?MB",
    ("02_read_ahead.ipynb", "file_copy"): r"4[67] ?%|half of its time",
    ("02_read_ahead.ipynb", "alone"): r"[Ff]our row groups",
    ("01_fragments.ipynb", "yield"): r"33 ?%|34 ?%|two thirds",
    ("01_fragments.ipynb", "half_speed"): r"1 ?[Mm][Bb]\b|bandwidth times seek|destroys",
    ("01_fragments.ipynb", "rebuild"): r"1\.4\d|not change much",
    ("03_row_groups.ipynb", "groups"): r"\b35\b",
    ("03_row_groups.ipynb", "text"): r"ten times|tenth|16 MiB",
    ("03_row_groups.ipynb", "dictionary"): r"2\.3\d?",
    ("03_row_groups.ipynb", "counter"): r"\b55 MB",
    ("04_io_cpu.ipynb", "load"): r"\b4\.[2-6]\d? ?µs",
    ("04_io_cpu.ipynb", "rows158"): r"\b8\.[0-9]+ ?µs",
    ("04_io_cpu.ipynb", "rows323"): r"(?<![\d.])(?:5[0-9]|74)(?:\.\d+)? ?µs",
    ("06_index_pages.ipynb", "upper"): r"1,?60[78]",
    ("06_index_pages.ipynb", "behind"): r"\b64 KiB|63\.4",
    ("06_index_pages.ipynb", "sampled"): r"\b414\b",
    ("06_index_pages.ipynb", "wrong"): r"\b(?:28|30|29\.8) %",
    ("07_elimination.ipynb", "disorder"): r"s \+ w|\b14 ?%",
    ("07_elimination.ipynb", "year"): r"28[45]|319",
    ("08_cache_tiers.ipynb", "uniform"): r"\b50 ?%|straight line",
    ("08_cache_tiers.ipynb", "favourites"): r"\b(?:79|80) ?%",
    ("08_cache_tiers.ipynb", "too_small"): r"finds nothing\b|longest ago, and",
    ("08_cache_tiers.ipynb", "short_blocks"): r"vanish|dropped instead",
    ("08_cache_tiers.ipynb", "break_even"): r"\b26(?:\.2)? ?s|\b53",
    ("09_scale_out.ipynb", "warm"): r"2\.55|255|207\.99",
    ("09_scale_out.ipynb", "anomaly"): r"813|\b66\d\b|165 ?%",
    ("09_scale_out.ipynb", "two"): r"\b1\.9\d",
    ("09_scale_out.ipynb", "copy"): r"[Nn]obody reads",
    ("10_loading.ipynb", "runs"): r"two dozen|\b2[34]\b",
    ("10_loading.ipynb", "files"): r"wait / time to make",
    ("05_lookups.ipynb", "one_by_one"): r"\b226\b|one over",
    ("05_lookups.ipynb", "balls"): r"\b26 ?ms|four times|\b2[567] ms",
    ("05_lookups.ipynb", "little"): r"nine|8\.8",
    ("05_lookups.ipynb", "distinct"): r"\b70\b|69\.6",
    ("05_lookups.ipynb", "break_even"): r"\b54\b",
}
"""What stands nowhere above it: its answer, in any of its spellings."""
NOWHERE = {
    "00_start_here.ipynb": (
        "Waiting in parallel costs once",
        "Many small groups are many reads",
        "nothing is lost",
    ),
    "02_read_ahead.ipynb": (
        "He printed that rate too",
        "The copy was tuned",
        "Many hands",
        "A forecast that is wrong",
    ),
    "01_fragments.ipynb": ("Bandwidth times seek.", "His graph did not change much", "poison"),
    "03_row_groups.ipynb": (
        "two bottles",
        "a tenth as tall",
        "how often its line of code",
        "the price of a small group",
        "Where the trip is the largest term",
    ),
    "04_io_cpu.ipynb": (
        "With one disk nobody noticed",
        "right eight times",
        "So the processor pays for four things",
    ),
    "11_your_data.ipynb": (
        "Nobody can skip what is everywhere",
        "are no accident",
        "different things in the trace",
    ),
    "06_index_pages.ipynb": (
        "seventy times as many",
        "A chain cannot be read ahead",
        "one habit",
        "Count the things",
    ),
    "07_elimination.ipynb": (
        "has something of everything",
        "order is good enough",
        "The finer order is a gift",
        "813.82",
        "207.99",
        "951.01",
        "243.53",
    ),
    "08_cache_tiers.ipynb": (
        "A straight line",
        "Nine tenths in memory, and not one",
        "byte after byte",
        "finds nothing of that tenth",
        "made a whole tier vanish",
        "learns all it can in one run",
        "intelligently moving",
    ),
    "09_scale_out.ipynb": (
        "More processors alone never do that",
        "does not tell which",
        "What was not halved",
        "The average does not matter",
        "Nobody else was hurt",
        "Where the limit lies",
    ),
    "10_loading.ipynb": ("The square is what hurts", "Many writers, one log", "That is what a sync buys"),
    "05_lookups.ipynb": (
        "About nine under way",
        "One over the latency, near enough",
        "He printed what chance",
    ),
}
"""What draws the lesson of an answer, and is shown by the reveal alone."""


@pytest.mark.parametrize(("notebook", "name"), GIVEN)
def test_what_a_question_needs_stands_with_it(notebook: str, name: str) -> None:
    _, question = above(notebook, f'predict("{name}")')
    words = " ".join(question.split())
    assert [given for given in GIVEN[notebook, name] if given not in words] == []


@pytest.mark.parametrize(("notebook", "name"), HIDDEN)
def test_the_answer_does_not_stand_above_its_question(notebook: str, name: str) -> None:
    words = "\n".join(above(notebook, f'predict("{name}")'))
    assert re.findall(HIDDEN[notebook, name], words) == []


@pytest.mark.parametrize("notebook", NOWHERE)
def test_the_lesson_is_left_to_the_reveal(notebook: str) -> None:
    text = (paths.NOTEBOOKS / notebook).read_text(encoding="utf-8")
    assert [words for words in NOWHERE[notebook] if words in text] == []


def test_a_figure_that_shows_the_cliff_comes_after_the_last_guess_at_it() -> None:
    text = (paths.NOTEBOOKS / "08_cache_tiers.ipynb").read_text(encoding="utf-8")
    order = ['predict(\\"scan_gain', 'figure(\\"cliff', 'claim(\\"no_use']
    places = [text.index(f"lesson.{call}") for call in order]
    assert places == sorted(places)


LAWS = {
    "start_here": ({"size": "tiny"}, dict.fromkeys(("drive", "small_groups", "pieces", "ten_rows"), 1.25)),
    "read_ahead": (
        {"size": "tiny", "latency_s": 0.005, "threads": 1},
        dict.fromkeys(("switch", "switch_native", "switch_here", "depth", "alone", "hole"), 1.3),
    ),
    "fragments": ({"size": "tiny", "seek_s": 0.0099, "queue_depth": 2}, {}),
    "io_cpu": ({"size": "tiny"}, {"tenfold": 1.5}),
    "your_data": ({"size": "tiny"}, {"other_groups": 1.4, "other_order": 1.4}),
    "index_pages": ({"size": "tiny"}, {"sample_native": 1.3}),
    "elimination": ({"size": "tiny"}, {"bloom": 1.3}),
    "cache_tiers": ({"size": "tiny"}, {"scan_gain": 1.3, "tiny_blocks": 1.6}),
    "scale_out": ({"size": "tiny"}, {"two": 1.1, "requests": 1.3, "pushed": 1.4}),
    "loading": ({"size": "tiny"}, {"files": 1.3}),
    "lookups": ({"size": "tiny", "channels": 8, "queue_depth": 32}, {"eight": 1.5, "break_even": 1.25}),
}
"""For each chapter the notebook's settings, and how far a law may lie from the model where it is a step of it."""


NO_LAW = {
    ("io_cpu", "load_here"): "it is timed here: the same query cold less warm",
    ("io_cpu", "evict_here"): "it is timed here: the same query with little memory less much",
    ("index_pages", "sample_parquet"): "DuckDB's way of sampling a Parquet file decides what is read",
    ("elimination", "folders"): "files are counted in a plan",
    ("elimination", "price"): "it is timed here: a sort",
    ("scale_out", "warm"): "it was only printed",
    ("loading", "spread"): "it is timed here: how far the same load scatters",
}
"""Answers that no formula gives, and why."""


def test_every_answer_has_a_law_or_the_reason_why_it_has_none() -> None:
    rounds = {
        (place.topic, name): one for place in CONTENTS for name, one in chapter(place.topic).rounds.items()
    }
    without = {key for key, one in rounds.items() if one.law is None}
    assert without == set(NO_LAW)
    print(f"{len(rounds) - len(without)} answers with a law, {len(without)} without")
    assert len(rounds) - len(without) >= 89


BUILT = {"elimination": ({"flight": "Q3.2", "load": "generated"},)}
"""Files without which a model only expects: which row groups a Bloom filter rules out is read off the file."""


@pytest.mark.parametrize("topic", LAWS)
def test_every_round_shows_a_law_that_gives_its_answer_or_a_step_of_it(topic: str) -> None:
    settings, rough = LAWS[topic]
    opened = chapter(topic)
    study = Study(opened.experiment, repeats=1, **settings)
    for knobs in BUILT.get(topic, ()):
        opened.experiment.case(study.settings(**knobs)).build()
    for name, one in opened.rounds.items():
        assert (one.law is None) == ((topic, name) in NO_LAW), name
        if one.law is None:
            continue
        with calibrate.typical_costs():  # a calibration beside other tests is of a busy machine
            law, modeled = one.law(study), one.modeled_value(study)
        assert law.formula, name
        assert law.symbols, name
        factor = rough.get(name, 1.02)
        assert modeled is not None
        assert law.result <= modeled.median * factor, name
        assert modeled.median <= law.result * factor, name
