"""The JupyterLab of the workbook: sliders answer at once, no pop-ups, the learner's own set-up untouched."""
