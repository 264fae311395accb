"""Words that the support check knows: negations, directions, opposites, synonyms of academic prose."""

from rag.keyword.analysis import analyze

NEGATIONS = frozenset(
    "no not never none neither nor without cannot lack lacks lacking fail fails failed failing unable hardly barely "
    "rarely seldom nothing absent absence".split()
)
NOT_NEGATING = frozenset("only just merely necessarily matter longer solely".split())
"""Words before which "not" and "no" deny nothing of what follows."""
REPLACED = frozenset(
    {("rather", "than"), ("instead", "of"), ("opposed", "to"), ("independent", "of"), ("regardless", "of")}
    | {("irrespective", "of"), ("free", "of"), ("free", "from")}
)
"""Pairs of words that deny what follows: "events rather than frames", "independent of the size"."""
OWN = frozenset({"we", "our", "us", "propose", "proposed", "present", "introduce", "paper", "work", "study", "here"})
"""Words of a sentence on the paper's own work."""
RESUMING = frozenset(
    "require requires need needs use uses achieve achieves improve improves provide provides enable enables reduce "
    "reduces show shows learn learns outperform outperforms have has is are can allow allows suffer suffers yield "
    "yields produce produces remain remains demand demands depend depends rely relies take takes make makes".split()
)
"""Verbs that behind "and" begin a clause which the negation before it does not reach."""
_UP = (
    "increase increases increased increasing improve improves improved improving improvement improvements raise raises "
    "raised raising enhance enhances enhanced enhancing boost boosts boosted boosting gain gains higher greater more "
    "larger faster better best outperform outperforms outperformed outperforming exceed exceeds exceeded exceeding "
    "surpass surpasses surpassed surpassing beat beats beating superior stronger grow grows growing accelerate "
    "accelerates accelerated accelerating promote promotes amplify amplifies strengthen strengthens widen widens "
    "maximize maximizes maximizing maximise maximises upper most highest largest fastest strongest longer"
)
_DOWN = (
    "decrease decreases decreased decreasing reduce reduces reduced reducing reduction reductions lower lowers lowered "
    "lowering diminish diminishes diminished diminishing decline declines declined worse worst worsen worsens degrade "
    "degrades degraded degrading degradation underperform underperforms underperformed underperforming inferior slower "
    "less fewer smaller weaker impair impairs impaired impairing drop drops dropped shrink shrinks inhibit inhibits "
    "inhibited inhibiting suppress suppresses suppressed suppressing prevent prevents prevented preventing mitigate "
    "mitigates mitigated mitigating alleviate alleviates weaken weakens narrow narrows minimize minimizes minimizing "
    "minimise minimises least lowest smallest slowest weakest shorter attenuate attenuates attenuated slow slows"
)
DIRECTIONS = {**dict.fromkeys(_UP.split(), 1), **dict.fromkeys(_DOWN.split(), -1)}
"""+1 for words of more and better, -1 for words of less and worse."""

RATING = frozenset(
    "improve improves improved improving improvement improvements enhance enhances enhanced enhancing boost boosts "
    "boosted boosting better best superior worse worst worsen worsens degrade degrades degraded degrading degradation "
    "inferior impair impairs impaired impairing promote promotes accelerate accelerates accelerated "
    "accelerating".split()
)
"""Those of DIRECTIONS that say how good something gets, and not how much of it there is."""

COMPARISONS = {
    **dict.fromkeys(
        "outperform outperforms outperformed outperforming beat beats beating surpass surpasses surpassed surpassing "
        "exceed exceeds exceeded exceeding".split(),
        1,
    ),
    **dict.fromkeys("underperform underperforms underperformed underperforming trails lags".split(), -1),
}
"""Verbs that compare: +1 where the subject is the better one, -1 where it is the worse."""

_OPPOSITES = (
    "outperforms/underperforms increases/decreases increase/reduce higher/lower better/worse more/less more/fewer "
    "larger/smaller faster/slower stronger/weaker superior/inferior upper/lower maximum/minimum maximize/minimize "
    "maximal/minimal best/worst strengthen/weaken accelerate/slow improve/degrade improve/worsen improve/impair "
    "promote/inhibit promote/suppress activate/inhibit enhance/reduce enhance/impair raise/lower "
    "with/without always/never all/none same/different before/after first/last possible/impossible "
    "necessary/unnecessary positive/negative high/low large/small fast/slow simple/complex strong/weak long/short "
    "local/global discrete/continuous deterministic/stochastic homogeneous/heterogeneous sparse/dense "
    "static/dynamic success/failure succeed/fail online/offline supervised/unsupervised labeled/unlabeled "
    "linear/nonlinear convex/nonconvex stationary/nonstationary parametric/nonparametric known/unknown "
    "stable/unstable symmetric/asymmetric centralized/decentralized bounded/unbounded "
    "black-box/white-box single/multiple finite/infinite easy/hard expensive/cheap forward/backward shallow/deep "
    "explicit/implicit internal/external"
)


def _key(word: str) -> str:
    terms = analyze(word)
    return terms[0] if terms else word


def _opposites() -> dict[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    for pair in _OPPOSITES.split():
        one, other = map(_key, pair.split("/"))
        found.setdefault(one, set()).add(other)
        found.setdefault(other, set()).add(one)
    return {word: frozenset(words) for word, words in found.items()}


OPPOSITES = _opposites()
"""Term to the terms that say the opposite; both as `analyze` gives them, or the word where that gives nothing."""

_SYNONYMS = """
propose introduce present develop design devise suggest
method approach technique framework algorithm scheme strategy procedure
show demonstrate find reveal illustrate indicate establish prove report confirm
improve enhance boost
reduce decrease lower cut diminish mitigate alleviate lessen
use utilize employ leverage apply adopt exploit harness rely
outperform beat surpass exceed
achieve attain reach obtain yield get deliver
dataset data corpus
problem task challenge issue difficulty
evaluate assess test validate
fast quick rapid
cost expense overhead
enable allow permit let
require need demand
limit restrict constrain
address tackle solve handle resolve overcome
important crucial vital essential key critical
significant substantial considerable notable
increase raise grow rise
study investigate explore analyze examine
aim goal objective
create build construct generate produce
several many various multiple numerous
different distinct diverse
combine integrate merge unify incorporate
select choose pick
large big
cause lead induce result
help aid assist
keep maintain preserve retain
avoid prevent eliminate
gap difference discrepancy
speed acceleration speedup
offer provide give supply
new novel
existing current previous prior
"""


def _synonyms() -> dict[str, str]:
    found: dict[str, str] = {}
    for number, group in enumerate(_SYNONYMS.strip().splitlines()):
        for word in group.split():
            found.setdefault(_key(word), f"={number}")
    return found


SYNONYMS = _synonyms()
"""Term to the name of its group of synonyms; a term is in one group only."""

META = frozenset(
    "paper papers author authors abstract abstracts study studies work article researchers source sources according "
    "describes described discusses mentions states stated called namely specifically additionally furthermore moreover "
    "however thus therefore overall yes like respectively particular particularly i.e e.g et al".split()
)
"""Words about the source rather than of it, and those that only join: they need no support."""
