"""The optimizers under the name that they had before they were the usual ones."""

from thalweg.keras import optimizers as _optimizers

Optimizer = _optimizers.Optimizer
globals().update({name: cls for name, cls in _optimizers._classes.items() if not name.startswith("Experimental")})
