"""The page's filters and settings, as a client sends them, and the chips that show them."""

from collections.abc import Sequence

import pytest

from rag.errors import SettingsError
from rag.filters import Filters
from rag.options import AskOptions
from ui.filtering import Fields, chips_html, filters_of
from ui.settings_drawer import Choices, read_options

CHAT = Choices(writer="model", can_chat=True, model="small", models=lambda: ("small", "large"))


def test_fields_come_to_filters_with_values_between_semicolons() -> None:
    fields = Fields("2024..2025", "ICML; NeurIPS", "Wang, Yisen", "cs.LG ;")
    wanted = Filters(
        years=(2024, 2025), venues=("ICML", "NeurIPS"), authors=("Wang, Yisen",), categories=("cs.LG",), ids=("p1",)
    )
    assert filters_of(fields, ("p1",)) == wanted
    assert filters_of(Fields(), ()) is None


def test_a_year_that_is_none_is_an_error_and_said_beside_its_chip() -> None:
    with pytest.raises(SettingsError, match="no year"):
        filters_of(Fields(years="soon"), ())
    assert 'role="alert">“soon” is no year' in chips_html(Fields(years="soon"), (), problem="“soon” is no year.")


def test_each_filter_has_a_chip_that_names_it_and_what_it_does() -> None:
    shown = chips_html(Fields(venue="ICML"), ("Memory Traces", "Other"), read="by Yisen Wang")
    for name in ("venue", "scope", "read"):
        assert f'data-drop="{name}"' in shown
    assert 'aria-label="Venue: ICML. Remove this filter"' in shown
    assert "Only “Memory Traces” and 1 more" in shown
    assert "Papers by Yisen Wang, as you wrote" in shown
    assert chips_html(Fields(), ()) == ""


def test_what_stands_in_a_chip_is_text() -> None:
    shown = chips_html(Fields(author='"><img src=x>'), ("<script>",), read="<b>")
    assert "<img" not in shown
    assert "<script" not in shown
    assert "<b>" not in shown


@pytest.mark.parametrize("sent", [[], [None] * 4, ["x" * 9_999, 5, [], {}]])
def test_any_fields_are_read(sent: Sequence[object]) -> None:
    fields = Fields.read(sent)
    assert all(isinstance(value, str) and len(value) <= 500 for value in fields)


def test_settings_that_are_as_they_were_change_nothing() -> None:
    assert read_options(["model", "small", 8, "auto", 0, False, "auto"], choices=CHAT) == AskOptions()
    assert read_options([], choices=CHAT) == AskOptions()


def test_settings_that_were_changed_are_options() -> None:
    chosen = read_options(["extractive", "large", 12.0, "evidence", 2, True, "de"], choices=CHAT)
    assert chosen == AskOptions("extractive", "large", 12, "evidence", 2, True, "de")


@pytest.mark.parametrize(
    "sent",
    [
        ["poet", "unserved", 99, "everything", 7, "yes", "tlh"],
        [["model"], {"a": 1}, True, 5, True, 1, ["de"]],
        [None, "x" * 500, -1, None, 1.5, None],
    ],
)
def test_what_nobody_offered_is_left_out(sent: Sequence[object]) -> None:
    assert read_options(sent, choices=CHAT) == AskOptions()


def test_without_a_model_only_the_number_of_papers_can_be_chosen() -> None:
    sent = ["model", "large", 3, "evidence", 2, True, "de"]
    assert read_options(sent, choices=Choices()) == AskOptions(k=3)
