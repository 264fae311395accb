"""Runs of a suite: asked, cached, logged, resumed, scored."""
