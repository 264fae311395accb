"""Drafts gold cases from a corpus, by templates or by a model; a person accepts or drops each."""
