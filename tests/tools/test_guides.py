"""The guides show what is compiled and run: each block of code stands in an example or a test."""

import pathlib
import re

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
SOURCES = {
    "cpp": [*(ROOT / "examples/cpp").glob("*.cc"), ROOT / "tests/keras/design_programs_test.cc"],
    "python": [*(ROOT / "examples/python").glob("*.py")],
}
COMMENT = {"cpp": r"//[^\n]*", "python": r"#[^\n]*"}


def bare(text, language):
    """The code alone: comments say more in a guide, and lines are broken elsewhere."""
    return re.sub(r"\s+", "", re.sub(COMMENT[language], "", text))


def sections():
    programs = (ROOT / "tests/guides/CMakeLists.txt").read_text()  # guides whose blocks are a program of their own
    for path in (ROOT / "docs").glob("*.md"):
        if f"docs/{path.name}" not in programs:
            yield path.name, path.read_text()
    readme = (ROOT / "README.md").read_text()
    yield "README.md", re.search(r"^## Keras\n(.*?)^## ", readme, re.MULTILINE | re.DOTALL).group(1)


def blocks():
    for name, text in sections():
        for number, (language, code) in enumerate(re.findall(r"```(cpp|python)\n(.*?)```", text, re.DOTALL), 1):
            yield pytest.param(language, code, id=f"{name}-{number}")


@pytest.mark.parametrize("language, code", blocks())
def test_is_compiled_or_run(language, code):
    wanted = bare(code, language)
    assert any(wanted in bare(path.read_text(), language) for path in SOURCES[language]), code


def test_links_lead_somewhere():
    for path in [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]:
        prose = re.sub(r"```.*?```|`[^`\n]*`", "", path.read_text(), flags=re.DOTALL)
        for target in re.findall(r"\]\(([^)#]+)", prose):
            assert (path.parent / target).exists(), f"{path.name}: {target}"
