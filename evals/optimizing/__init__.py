"""Finds a better prompt without training: a model proposes, the metrics score, the scores go back."""
