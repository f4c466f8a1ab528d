"""Writes a program of the C++ blocks of guides: extract.py OUTPUT GUIDE... Each block is a function, and main calls them all.

The block that includes the library is the beginning of the program; blocks in other languages are passed over.
"""

import re
import sys

BLOCK = re.compile(r"^```cpp\n(.*?)^```$", re.M | re.S)


def main():
    output, guides = sys.argv[1], sys.argv[2:]
    lines = ["#include <thalweg/thalweg.h>", "#include <map>", "#include <thread>",
             "namespace tf = thalweg;", "using tf::Tensor, tf::Variable;"]
    names = []
    for guide in guides:
        with open(guide, encoding="utf-8") as file:
            text = file.read()
        for match in BLOCK.finditer(text):
            if "#include" in match[1]:
                continue
            names.append(f"block_{len(names)}")
            line = text.count("\n", 0, match.start(1)) + 1
            lines += [f"void {names[-1]}() {{", f'#line {line} "{guide}"', match[1].rstrip("\n"), "}"]
    lines += ["int main() {"] + [f"  {name}();" for name in names] + ["}"]
    with open(output, "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
