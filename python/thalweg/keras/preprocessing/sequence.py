"""Sequences of different lengths as arrays."""

from thalweg.keras.utils import pad_sequences
