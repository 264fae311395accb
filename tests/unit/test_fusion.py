"""Fusion: coverage, the fused score, and the order of papers."""

import numpy as np
import pytest

from rag.fusion import best_first, coverage, fuse, keyword_weight


def array(*values: float) -> np.ndarray:
    return np.array(values, dtype=np.float32)


def test_coverage_is_the_share_of_what_could_be_matched() -> None:
    assert coverage(array(2, 8, 0), ceiling=16).tolist() == [0.125, 0.5, 0]


def test_coverage_without_known_terms_is_zero() -> None:
    assert coverage(array(0, 0), ceiling=0).tolist() == [0, 0]


def test_coverage_stays_in_range() -> None:
    assert coverage(array(9), ceiling=4).tolist() == [1]


def test_a_paper_with_all_the_rare_terms_beats_one_that_is_only_about_the_same() -> None:
    fused = fuse(chunk=array(0.35, 0.5), sentence=array(0.4, 0.55), coverage=array(0.7, 0.2), weight=1)
    assert fused[0] > fused[1]


def test_vectors_decide_where_words_say_little() -> None:
    fused = fuse(chunk=array(0.3, 0.7), sentence=array(0.3, 0.7), coverage=array(0.15, 0.1), weight=1)
    assert fused[1] > fused[0]


def test_the_score_of_a_perfect_paper_is_one_and_of_an_opposite_one_zero() -> None:
    fused = fuse(chunk=array(1, -1), sentence=array(1, -1), coverage=array(1, 0), weight=2)
    assert fused.tolist() == pytest.approx([1, 0])


def test_the_weight_moves_the_order_towards_words() -> None:
    scores = {"chunk": array(0.4, 0.6), "sentence": array(0.4, 0.6), "coverage": array(0.5, 0.3)}
    assert np.argmax(fuse(**scores, weight=0.5)) == 1
    assert np.argmax(fuse(**scores, weight=2)) == 0


def test_a_keyword_list_is_trusted_by_how_far_the_best_is_ahead() -> None:
    alike, ahead = array(*[5.0] * 12), array(9, *[3.0] * 11)
    assert keyword_weight(alike) == 0.5
    assert keyword_weight(ahead) == pytest.approx(0.5 + 1.5 * 2 / 3)
    assert keyword_weight(array(4, 4)) == 2
    assert keyword_weight(array()) == 0.5


def test_the_first_are_best_and_ties_go_to_the_lower_row() -> None:
    rows = np.array([7, 3, 5, 1], dtype=np.int32)
    assert best_first(array(0.5, 0.5, 0.9, 0.1), rows, k=3).tolist() == [2, 1, 0]
    assert best_first(array(0.5), rows[:1], k=9).tolist() == [0]
