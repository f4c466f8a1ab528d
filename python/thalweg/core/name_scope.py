"""tf.name_scope: what the names of variables begin with."""

from thalweg import _thalweg


class name_scope:
    """Puts a scope in front of the names of what is made in it: `with tf.name_scope("dense"):`.

    Scopes nest. A name that ends with "/" is taken as it is, whatever is around it, and an empty one leaves all scopes.
    `with ... as scope:` gives the whole name, `"outer/dense/"`, with which the same scope can be entered again.
    """

    def __init__(self, name):
        if not isinstance(name, str):
            raise ValueError("name for name_scope must be a string.")
        self._name = name
        self._before = []  # one for each time it has been entered

    @property
    def name(self):
        """The name it was given."""
        return self._name

    def __enter__(self):
        self._before.append(_thalweg.enter_name_scope(self._name))
        return _thalweg.current_name_scope()

    def __exit__(self, *error):
        _thalweg.restore_name_scope(self._before.pop())
        return False

    def __deepcopy__(self, memo):
        return type(self)(self._name)

    def __reduce__(self):
        return type(self), (self._name,)


class name_scope_v1(name_scope):
    """The scope of TensorFlow 1, which has a default for functions whose caller gave no name."""

    def __init__(self, name, default_name=None, values=None):
        if not (name is None or isinstance(name, str)):
            raise TypeError(f"`name` type ({type(name)}) is not a string type. You might have specified values as the "
                            "`name` argument.")
        super().__init__((default_name if name is None else name) or "")
