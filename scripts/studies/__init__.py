"""Studies: questions about the games that take more than one run; run one by ``python -m scripts.studies.NAME``."""
