"""tf.autodiff: tapes, forward mode, custom gradients."""

from thalweg.autodiff.forward_accumulator import ForwardAccumulator
from thalweg.autodiff.tape import GradientTape
