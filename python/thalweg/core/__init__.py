"""What everything else stands on: shapes, specs, devices, names, and what the engine asks Python for."""
