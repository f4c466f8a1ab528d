"""TensorFlow's errors. The engine's errors arrive as these; type, value and time errors as Python's own."""

OK = 0
CANCELLED = 1
UNKNOWN = 2
INVALID_ARGUMENT = 3
DEADLINE_EXCEEDED = 4
NOT_FOUND = 5
ALREADY_EXISTS = 6
PERMISSION_DENIED = 7
RESOURCE_EXHAUSTED = 8
FAILED_PRECONDITION = 9
ABORTED = 10
OUT_OF_RANGE = 11
UNIMPLEMENTED = 12
INTERNAL = 13
UNAVAILABLE = 14
DATA_LOSS = 15
UNAUTHENTICATED = 16


class OpError(Exception):
    """The base of all errors that ops raise."""

    def __init__(self, node_def, op, message, error_code, *args):
        super().__init__()
        self._node_def = node_def
        self._op = op
        self._message = message
        self._error_code = error_code
        self._experimental_payloads = args[0] if args else {}

    def __reduce__(self):
        return type(self), self._init_arguments()

    def _init_arguments(self):
        return self._node_def, self._op, self._message, self._error_code

    message = property(lambda self: self._message, doc="The text of the error.")
    op = property(lambda self: self._op, doc="The operation that failed, in a graph.")
    node_def = property(lambda self: self._node_def, doc="The node that failed, in a graph.")
    error_code = property(lambda self: self._error_code, doc="TensorFlow's number of this kind of error.")
    experimental_payloads = property(lambda self: self._experimental_payloads)

    def __str__(self):
        return str(self._message)


def _define(name, code, doc):
    def __init__(self, node_def, op, message, *args):
        OpError.__init__(self, node_def, op, message, code, *args)

    def _init_arguments(self):
        return self._node_def, self._op, self._message

    body = {"__init__": __init__, "_init_arguments": _init_arguments, "__doc__": doc, "__module__": __name__}
    return type(name, (OpError,), body)


CancelledError = _define("CancelledError", CANCELLED, "The operation was cancelled.")
UnknownError = _define("UnknownError", UNKNOWN, "An error of no known kind.")
InvalidArgumentError = _define("InvalidArgumentError", INVALID_ARGUMENT, "An operation received an invalid argument.")
DeadlineExceededError = _define("DeadlineExceededError", DEADLINE_EXCEEDED, "A deadline passed.")
NotFoundError = _define("NotFoundError", NOT_FOUND, "A file, variable or other entity was not found.")
AlreadyExistsError = _define("AlreadyExistsError", ALREADY_EXISTS, "What was to be made exists already.")
PermissionDeniedError = _define("PermissionDeniedError", PERMISSION_DENIED, "The caller may not do this.")
ResourceExhaustedError = _define("ResourceExhaustedError", RESOURCE_EXHAUSTED, "Memory or another resource ran out.")
FailedPreconditionError = _define("FailedPreconditionError", FAILED_PRECONDITION, "The state is not what this needs.")
AbortedError = _define("AbortedError", ABORTED, "The operation was aborted.")
OutOfRangeError = _define("OutOfRangeError", OUT_OF_RANGE, "An iteration went past the end of its input.")
UnimplementedError = _define("UnimplementedError", UNIMPLEMENTED, "The operation does not exist for these arguments.")
InternalError = _define("InternalError", INTERNAL, "The engine broke a promise of its own.")
UnavailableError = _define("UnavailableError", UNAVAILABLE, "A service is unavailable.")
DataLossError = _define("DataLossError", DATA_LOSS, "Data were lost or are corrupt.")
UnauthenticatedError = _define("UnauthenticatedError", UNAUTHENTICATED, "The caller is not known.")


class OperatorNotAllowedInGraphError(TypeError):
    """A Python operator, such as `if`, met a tensor that has no value yet."""
