"""Where the public names come from: the tree of modules, docstrings and signatures."""
