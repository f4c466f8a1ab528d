"""Traced functions, control flow in them, and Python code as their nodes."""
