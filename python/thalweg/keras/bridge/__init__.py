"""How objects of the engine are classes of Python, and classes of a program objects of the engine."""
