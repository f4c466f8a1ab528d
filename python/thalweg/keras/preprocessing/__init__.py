"""Helpers that make arrays of raw data."""

from thalweg.keras.preprocessing import sequence
