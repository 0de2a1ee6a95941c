"""The paper's protocol: random splits at several ratios, repeated, and the scores of every method on them."""

from pine.evaluation import link_runs as link_runs
from pine.evaluation import link_specs as link_specs
from pine.evaluation import paired_test as paired_test
from pine.evaluation import references as references
from pine.evaluation.protocol import RATIOS, Split, split
from pine.evaluation.results import Result
from pine.evaluation.run import evaluate
from pine.evaluation.variants import Variant
from pine.metrics import scores_of

__all__ = ["RATIOS", "Result", "Split", "Variant", "evaluate", "scores_of", "split"]
