"""`make faults`, or `python -m tools.faults NAME`: faults at random instants and random bytes, over and over, counted.

A trial is one fault, in a folder of its own. It ends with nothing said if nothing was lost, nothing half-built counts
and the next run needs no hand; else with what was wrong. Seed, name and number of a trial repeat it.
"""
