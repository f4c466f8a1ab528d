"""What tools/make_docs reads out of a header."""

import os
import runpy

TOOL = os.path.join(os.path.dirname(__file__), "..", "..", "tools", "make_docs")
make_docs = runpy.run_path(TOOL)

HEADER = """// Things with names,
// and why.
#pragma once
namespace thalweg {
/// How a thing is made.
struct ThingOptions {
  int size = 1;
};
/// Makes a thing,
/// or throws.
THALWEG_API Thing make_thing(const Name& name,
                             const ThingOptions& options = {});
/// A thing.
class THALWEG_API Thing {
 public:
  /// Its `size`.
  int size() const { return size_; }
};
namespace math {
/// Two things.
Thing twice(const Thing& thing);
}  // namespace math
}  // namespace thalweg
"""


def test_entries():
    assert list(make_docs["entries"](HEADER)) == [
        ("Things with names, and why.", "", ""),
        ("How a thing is made.", "struct ThingOptions {\n  int size = 1;\n};", "thalweg"),
        ("Makes a thing, or throws.",
         "Thing make_thing(const Name& name,\n                             const ThingOptions& options = {});", "thalweg"),
        ("A thing.", "class Thing", "thalweg"),
        ("Its `size`.", "int size() const", "thalweg"),
        ("Two things.", "Thing twice(const Thing& thing);", "thalweg::math"),
    ]


def test_paragraph_escapes():
    assert make_docs["paragraph"]("`a<b>` & c") == "<p><code>a&lt;b&gt;</code> &amp; c</p>"
