"""Layer, and what it has from its rooms: weights, calls, masks."""
