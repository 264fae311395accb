"""Names of fields that cannot be stored as they are."""

import pytest

from rag.records import BadRecord, from_line, paper_from_record, to_line


def test_a_lone_surrogate_in_the_name_of_a_field_is_replaced_and_told() -> None:
    paper, repairs = paper_from_record({"abstract": "Traces decay.", "of\ud800": 1})
    assert paper.metadata == {"of\ufffd": 1}
    assert repairs == ("lone surrogates replaced by U+FFFD",)
    assert from_line(to_line(paper)) == paper


def test_two_fields_that_become_one_are_a_bad_record() -> None:
    with pytest.raises(BadRecord, match="two fields have one name"):
        paper_from_record({"abstract": "Traces decay.", "note": 1, "no\u200bte": 2})
