"""tools/check_layering on small trees."""

import os
import subprocess
import sys

import pytest

TOOL = os.path.join(os.path.dirname(__file__), "..", "..", "tools", "check_layering")


def run(root, files):
    for path, text in files.items():
        target = root / "thalweg" / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)
    done = subprocess.run([sys.executable, TOOL, str(root)], capture_output=True, text=True)
    return done.returncode, done.stdout.splitlines()


@pytest.mark.parametrize("path, include", [
    ("core/a.cc", '"thalweg/core/a.h"'),
    ("kernels/a.cc", '"thalweg/core/dtype.h"'),
    ("ops/a.cc", "<thalweg/kernels/gemm.h>"),
    ("io/a.cc", '"thalweg/ops/op.h"'),
    ("data/a.cc", '"thalweg/io/record_file.h"'),
    ("keras/layers/dense.cc", '"thalweg/graph/function.h"'),
    ("python/module.cc", '"thalweg/thalweg.h"'),
    ("core/a.cc", "<vector>"),
])
def test_downward_is_clean(tmp_path, path, include):
    assert run(tmp_path, {path: f"#include {include}\n"}) == (0, ["layering: 0 violations"])


@pytest.mark.parametrize("path, include, reason", [
    ("core/a.h", '"thalweg/ops/op.h"', "core is not above ops"),
    ("kernels/a.cc", '"thalweg/core/tensor.h"', "kernels may not know thalweg/core/tensor.h"),
    ("ops/math/a.cc", '"thalweg/graph/graph.h"', "ops is not above graph"),
    ("data/a.cc", '"thalweg/summary/writer.h"', "data is not above summary"),
    ("ops/a.cc", '"thalweg/thalweg.h"', "the umbrella header is for users"),
    ("ops/a.cc", '"thalweg/utils/a.h"', "unknown folder thalweg/utils"),
])
def test_upward_is_reported(tmp_path, path, include, reason):
    included = include.strip('"')
    code, lines = run(tmp_path, {path: f"\n#include {include}\n"})
    assert code == 1
    assert lines == [f"thalweg/{path}:2: includes {included}: {reason}", "layering: 1 violations"]


def test_unknown_folder_is_reported(tmp_path):
    code, lines = run(tmp_path, {"utils/a.h": ""})
    assert (code, lines[0]) == (1, "thalweg/utils: a folder that LAYERS does not name")
