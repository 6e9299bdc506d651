"""The keys Firnline writes into snapshot summaries and table properties. One place, so that they never drift apart."""

RUN = "firnline.run"
STEP = "firnline.step"
RESERVED_PREFIX = "firnline."
