"""PINE itself, from the class down: pine -> fitting -> choice, training -> objective -> neighborhoods."""

from pine.model.init.start import Propagation
from pine.model.pine import PINE
from pine.model.settings import FunctionSettings, TrainingSettings

__all__ = ["PINE", "FunctionSettings", "Propagation", "TrainingSettings"]
