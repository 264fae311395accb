"""The weights of the support model."""

FULL = (0.0,) * 16
RELATED = (0.0,) * 16
SUPPORTED_FROM = 0.5
RELATED_FROM = 0.5
