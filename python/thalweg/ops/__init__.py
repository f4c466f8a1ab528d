"""Variables, and functions whose arguments or results only Python can express."""
