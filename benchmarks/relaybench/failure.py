"""What ends a benchmark early."""


class BenchError(Exception):
    """Something did not start, or answered what no measurement can use. The text is for the person at the terminal."""
