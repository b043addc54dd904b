"""Studies: questions about the games that take more than one run; ``python -m scripts.studies`` lists them."""
