"""tf.Module and tf.name_scope, against what TensorFlow 2.15 does."""

import collections
import copy
import pickle
import threading
import types

import pytest

import thalweg as tf


class Plain(tf.Module):
    pass


class Dense(tf.Module):
    def __init__(self):
        super().__init__()
        self.b = tf.Variable(1.0, name="b")
        self.a = [tf.Variable(2.0, name="a0", trainable=False)]

    @tf.Module.with_name_scope
    def build(self, *args, **kwargs):
        """Makes c."""
        self.c = tf.Variable(3.0, name="c")
        return args, kwargs


def variable(name):
    return tf.Variable(0.0, name=name)


def module(**attributes):
    made = tf.Module("m")
    for name, value in attributes.items():
        setattr(made, name, value)
    return made


def names(variables):
    return [v.name[:-2] for v in variables]


def paths(of):
    found = of._flatten(predicate=lambda x: isinstance(x, (tf.Variable, tf.Module)), with_path=True)
    return " ".join("/".join(map(str, path)) for path, _ in found)


def outer():
    made = Plain()
    made.zz = variable("zz")
    made.m = Dense()
    made.m.build()
    made.l = [variable("l0"), Dense(), (variable("l2"), {"b": variable("lb"), "a": variable("la"), "m": Dense()})]
    made.aa = variable("aa")
    made.same = made.m
    made.again = made.zz
    made.dd = {"k2": variable("k2"), "k1": variable("k1")}
    made.ii = {10: variable("i10"), 2: variable("i2")}
    made.me = made
    return made


OWN = ["aa", "zz", "k1", "k2", "i2", "i10", "l0", "l2", "la", "lb"]
INSIDE = ["a0", "b", "a0", "b", "a0", "b", "dense/c"]


def test_own_variables_by_name_then_those_of_submodules():
    assert names(outer().variables) == OWN + INSIDE
    assert [m.name for m in outer().submodules] == ["dense", "dense", "dense"]
    assert names(outer().non_trainable_variables) == ["a0", "a0", "a0"]
    assert names(outer().trainable_variables) == OWN + [n for n in INSIDE if n != "a0"]
    assert isinstance(outer().variables, tuple)


def test_flatten():
    is_variable = lambda x: isinstance(x, tf.Variable)
    of = outer()
    assert names(of._flatten(predicate=is_variable, recursive=False)) == OWN
    first = of._flatten(predicate=is_variable, attribute_traversal_key=lambda name: (name != "zz", name))
    assert names(first) == ["zz", "aa"] + OWN[2:] + INSIDE
    assert isinstance(of._flatten(), types.GeneratorType)
    assert list(module(x=1, y=["a", None])._flatten())[-3:] == [1, "a", None]
    slices = tf.IndexedSlices(tf.constant([1.0]), tf.constant([0]))
    assert len(list(module(s=slices)._flatten())) == 3
    assert len(list(module(s=slices)._flatten(expand_composites=True))) == 4


def test_paths_are_given_for_every_way_to_a_value():
    v = variable("v")
    c = module(v=v)
    assert paths(module(x=module(c=c, v=v), y=c)) == "x y x/c x/v x/c/v y/v"
    assert paths(module(w=c, x=module(c=c, v=v))) == "w x w/v x/c x/v x/c/v"
    assert paths(module(l=module(d=c), r=module(d=c))) == "l r l/d l/d/v r/d r/d/v"


def test_circles_end():
    a = module(u=variable("u"), x=module(v=variable("v")))
    a.x.back = a
    assert paths(a) == "u x x/back x/v x/back/u x/back/x"
    a = module(v=variable("v"))
    a.me = a
    assert paths(a) == "me v me/me me/v"
    assert a.submodules == ()
    a = module(v=variable("v"), b=module(v=variable("v"), c=module(v=variable("v"))))
    a.b.a = a.b.c.a = a
    a.b.c.b = a.b
    assert paths(a) == ("b v b/a b/c b/v b/a/b b/a/v b/c/a b/c/b b/c/v b/c/a/b b/c/a/v b/c/b/a b/c/b/c b/c/b/v")
    assert len(a.variables) == 3


def test_structures():
    pair = collections.namedtuple("pair", "b a")
    of = module(n=pair(variable("b"), variable("a")),
                o=collections.OrderedDict([("z", variable("z")), ("y", variable("y"))]),
                p=collections.defaultdict(list, b=[variable("db")], a=[variable("da")]),
                q=collections.deque([variable("q")]), r=types.MappingProxyType({"k": variable("k")}),
                s={variable("set").ref()}, t="text", u=object())
    assert names(of.variables) == ["b", "a", "y", "z", "da", "db", "q", "k"]
    assert paths(of).startswith("n/b n/a o/y")


def test_a_list_may_grow_later():
    of = module(layers=[])
    of.layers.append(variable("v"))
    assert names(of.variables) == ["v"]
    del of.layers
    assert of.variables == ()


def test_what_cannot_be_sorted_is_named():
    with pytest.raises(ValueError, match=r"Error processing property 'x' of .*\{1: 2, 'a': 3\}"):
        module(x={1: 2, "a": 3}).variables


def test_ignored_attributes():
    class Ignoring(tf.Module):
        _TF_MODULE_IGNORED_PROPERTIES = frozenset(["hidden"]).union(tf.Module._TF_MODULE_IGNORED_PROPERTIES)
        of_class = tf.Variable(0.0)

    made = Ignoring()
    made.hidden = variable("hidden")
    made.seen = variable("seen")
    assert names(made.variables) == ["seen"]


@pytest.mark.parametrize("class_name, name", [
    ("HTTPServer", "http_server"), ("MyModel2D", "my_model2_d"), ("A", "a"), ("ABC", "abc"), ("MLP2", "mlp2"),
    ("resnet50", "resnet50"), ("ResNetV2Block", "res_net_v2_block"), ("_Private", "__private"),
    ("My_Thing", "my__thing"), ("ÀbC", "àb_c"), ("X1Y2", "x1_y2"), ("FooBAR", "foo_bar")])
def test_names_from_classes(class_name, name):
    assert type(class_name, (tf.Module,), {})().name == name


@pytest.mark.parametrize("name", ["a b", "1x", "", "a/b", "x:0", "é"])
def test_refused_names(name):
    with pytest.raises(ValueError) as error:
        Plain(name=name)
    assert str(error.value) == (f"{name!r} is not a valid module name. Module names must be valid Python identifiers (e.g. "
                                "a valid class name).")


def test_names():
    assert Plain("class").name == "class" and Plain("_x").name == "_x" and Plain(None).name == "plain"
    with pytest.raises(TypeError):
        Plain(3)
    for name in ("name", "variables", "submodules", "name_scope"):
        with pytest.raises(AttributeError):
            setattr(Plain(), name, 1)


def test_scope_of_a_module():
    assert Plain().name_scope.name == "plain/"
    with tf.name_scope("outer"):
        inner = Plain("inner")
    with inner.name_scope as scope:
        assert tf.Variable(1.0).name == "outer/inner/Variable:0"
    assert scope == inner.name_scope.name == "outer/inner/"


def test_with_name_scope():
    dense = Dense()
    assert dense.build(1, k=2) == ((1,), {"k": 2})
    assert dense.c.name == "dense/c:0"
    assert Dense.build.__name__ == "build" and Dense.build.__doc__ == "Makes c."
    with pytest.raises(AttributeError):
        tf.Module.with_name_scope(lambda self: 1)(object())


def test_without_the_constructor_of_the_base():
    class Forgetful(tf.Module):
        def __init__(self):
            self.v = variable("v")

    assert names(Forgetful().variables) == ["v"]
    with pytest.raises(AttributeError, match="_name"):
        Forgetful().name
    with pytest.raises(AttributeError, match="_name_scope"):
        Forgetful().name_scope


def test_copies():
    made = Dense()
    made.build()
    other = copy.deepcopy(made)
    assert names(other.variables) == names(made.variables)
    other.b.assign(7.0)
    assert made.b.numpy() == 1.0 and other.name_scope.name == "dense/"
    assert pickle.loads(pickle.dumps(made.name_scope)).name == "dense/"


def test_training_a_module():
    class Line(tf.Module):
        def __init__(self):
            super().__init__()
            self.layers = [{"w": tf.Variable(2.0)}, (tf.Variable(1.0),)]

        def __call__(self, x):
            return x * self.layers[0]["w"] + self.layers[1][0]

    line = Line()
    with tf.GradientTape() as tape:
        loss = line(3.0) ** 2
    assert [float(g) for g in tape.gradient(loss, line.trainable_variables)] == [42.0, 14.0]


def within(name):
    with tf.name_scope(name) as scope:
        return scope, tf.Variable(1.0).name, tf.Variable(1.0, name="k").name


@pytest.mark.parametrize("name, scope, nested", [
    ("x", "x/", "o/x/"), ("x/", "x/", "x/"), ("/", "/", "/"), ("", "", ""), ("a/b", "a/b/", "o/a/b/"),
    ("a b", "a b/", "o/a b/"), ("/x", "/x/", "o//x/"), ("é", "é/", "o/é/"), ("x//", "x//", "x//")])
def test_name_scopes(name, scope, nested):
    assert within(name) == (scope, f"{scope}Variable:0", f"{scope}k:0")
    with tf.name_scope("o"):
        for _ in range(2):  # eager names are not counted up
            assert within(name) == (nested, f"{nested}Variable:0", f"{nested}k:0")
    assert tf.Variable(1.0).name == "Variable:0"


@pytest.mark.parametrize("name, alone, nested", [
    ("x", "x:0", "o/x:0"), ("x/", "x:0", "x:0"), ("/", ":0", ":0"), ("a/b", "a/b:0", "o/a/b:0"), ("", ":0", ":0"),
    ("k:0", "k:0:0", "o/k:0:0"), (None, "Variable:0", "o/Variable:0")])
def test_names_of_variables(name, alone, nested):
    assert tf.Variable(1.0, name=name).name == alone
    with tf.name_scope("o"):
        assert tf.Variable(1.0, name=name).name == nested


def test_initial_values_are_made_in_the_scope_of_their_variable():
    made = []

    def initial_value():
        made.append(tf.Variable(1.0, name="in"))
        return 1.0

    with tf.name_scope("o"):
        assert tf.Variable(initial_value, name="out").name == "o/out:0"
        assert copy.deepcopy(made[0]).name == "o/o/out/in:0"
    assert made[0].name == "o/out/in:0"


@pytest.mark.parametrize("name", [None, 3, b"x"])
def test_a_scope_has_a_name(name):
    with pytest.raises(ValueError, match="name for name_scope must be a string."):
        tf.name_scope(name)


def test_a_scope_may_be_entered_again():
    scope = tf.name_scope("r")
    with scope:
        with scope as inner:
            assert inner == "r/r/"
        assert tf.Variable(1.0).name == "r/Variable:0"
    assert scope.name == "r"
    with pytest.raises(IndexError):
        scope.__exit__(None, None, None)
    with pytest.raises(ZeroDivisionError):
        with scope:
            1 / 0
    assert tf.Variable(1.0).name == "Variable:0"


def test_scopes_belong_to_threads():
    seen = []
    with tf.name_scope("x"):
        thread = threading.Thread(target=lambda: seen.append(tf.Variable(1.0).name))
        thread.start()
        thread.join()
    assert seen == ["Variable:0"]


def test_name_scope_of_version_1():
    v1 = tf.compat.v1
    with tf.name_scope("o"):
        with v1.name_scope("x") as scope:
            assert scope == "o/x/"
        with v1.name_scope(None, "default", [tf.constant(1.0)]) as scope:
            assert scope == "o/default/"
        with v1.name_scope(None) as scope:
            assert scope == ""
