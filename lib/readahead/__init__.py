"""Readahead: how storage I/O decides the throughput of a database.

A house with floors. A file imports only from the floors beneath it, never a neighbour on its own:

    commands               what is typed                    click
    bench                  the workbook on its own scales
    lab                    the JupyterLab we start
    panels                 what the learner touches         ipywidgets, plotly
    exercises | advisor    questions; findings              no widgets
    experiments            one file per topic: its knobs, its model, its DuckDB run, its published figures
    measure                runs, samples, calibration       DuckDB
    datasets | storage     what lies there | how the bytes come (emulated device, trace, page cache)
    models                 pure arithmetic                  numpy only
    devices | published | shapes | progress      the facts; the exercise book
    units                  the words for numbers
    errors | paths         one clear sentence; where files live

A topic has one name in every room. Nothing is imported here, so that `readahead.models` starts
neither DuckDB nor plotly.
"""

__version__ = "0.1.0"
