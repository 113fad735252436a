"""The benchmark of the workbook itself: how exact the emulated device is, how fast the models are.

Each file offers functions that return `Figure`s: raw samples, what they come to, and what was aimed at. Every
figure is a ratio or an error within one run on one machine, never a wall time held against another machine's.
"""
