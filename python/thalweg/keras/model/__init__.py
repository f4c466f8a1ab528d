"""Models: their data, training and callbacks, and what is kept of them."""
