"""Every function with an option by position (docs/decisions/0013) is walked by one of the two tests of its forms."""

import glob
import os
import re

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
FORM = re.compile(r"^template <As<.*?> [A-Z] = .*?>\s+[\w:<>]+ (\w+)\(", re.M | re.S)


def read(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        return file.read()


def test_every_form_is_tested():
    tests = read("tests/ops/positions_test.cc") + read("tests/keras/positions_test.cc")
    headers = glob.glob(os.path.join(ROOT, "thalweg", "**", "*.h"), recursive=True)
    names = {name for path in headers for name in FORM.findall(read(path))}
    assert len(names) > 200
    assert sorted(name for name in names if not re.search(r"\b" + name + r"\(", tests)) == []
