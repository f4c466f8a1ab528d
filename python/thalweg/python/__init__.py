"""Modules that TensorFlow has here without calling them public, and that programs import all the same."""
