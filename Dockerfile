# One image for a class: a JupyterHub's, or a server's with JupyterLab on it. docs/hosting.md says how it is used.
#   docker build -t readahead .
FROM python:3.11-slim

RUN useradd --create-home --uid 1000 learner
WORKDIR /srv/readahead
COPY . .
RUN ./postBuild

# What every chapter needs at size tiny lies in the image, for everybody to read.
ENV READAHEAD_CACHE=/srv/cache
RUN python -m readahead sheet ci --out /tmp/out --jobs 1 && rm -rf /tmp/out && chmod -R a+rX /srv/cache

USER learner
ENV READAHEAD_PROGRESS=/home/learner/progress.json
WORKDIR /home/learner
CMD ["python", "-m", "readahead", "lab", "/home/learner/readahead", "--no-browser"]
