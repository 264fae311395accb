"""A model as judge of support: asked of a run's sentences, and calibrated on what people said of others."""
