"""Which TensorFlow this follows, and which Thalweg it is: programs compare the former, people ask for the latter."""

from thalweg import _thalweg

THALWEG_VERSION = _thalweg.version
VERSION = "2.15.1+thalweg." + THALWEG_VERSION
GIT_VERSION = "v" + VERSION
COMPILER_VERSION = "unknown"
GRAPH_DEF_VERSION = 1645
GRAPH_DEF_VERSION_MIN_CONSUMER = 0
GRAPH_DEF_VERSION_MIN_PRODUCER = 0
