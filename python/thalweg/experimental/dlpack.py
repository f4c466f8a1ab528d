"""Tensors of other libraries, without a copy."""

from thalweg._thalweg import from_dlpack, to_dlpack
