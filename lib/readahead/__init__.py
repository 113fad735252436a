"""Readahead: how storage I/O decides the throughput of a database.

A file imports only from the lines below its own; chapters never import one another:

    commands               what is typed                                       click
    lab                    a server extension of the JupyterLab we start
    panels                 what the learner touches                            ipywidgets, anywidget
    advisor                what to change about a table of one's own
    chapters               one folder each: laws, workload, questions
    questions              predictions, exercises, progress                    no widgets
    experiments            what a chapter is made of: knobs, rounds, claims, figures
    measure                runs, samples, calibration                          DuckDB
    datasets | storage     the tables and their files | how the bytes come (emulated device, trace, page cache)
    models                 what should happen: pure arithmetic                 numpy
    devices, published     the device catalogue; the published figures
    running | units        progress and stop of running work | numbers as words
    errors | paths

Nothing is imported here, so that `readahead.models` starts neither DuckDB nor a widget.
"""

__version__ = "0.1.0"
