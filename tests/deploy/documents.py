#!/usr/bin/python3
"""The pages whose commands are tested. A fenced block `sh` is run, all of a page in order in one shell; a block `text` is what
the one before it prints: each of its lines in this order, where … stands for anything, among other lines. A block `console`
cannot be run in a test; the page says why.

documents.py installed | chart         prints the pages that need the package, or only the chart
documents.py scripts FOLDER PAGE...   writes a script for each page: FOLDER/<name>.sh
documents.py compare FOLDER PAGE...   compares FOLDER/<name>.out, what the script wrote, with the page"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]

# In this order, in one booted machine: the later ones go on from the first.
INSTALLED = [
    "docs/quickstart.md",
    "docs/tutorials/prometheus_and_grafana.md",
    "docs/tutorials/behind_nginx.md",
    "docs/upgrading.md",
]
CHART = ["docs/tutorials/kubernetes.md"]

# A request that fails is a failure, unless the page prints its status.
PRELUDE = r"""set -euo pipefail
curl() {
    case " $* " in
        *'%{http_code}'*) command curl "$@" ;;
        *) command curl --fail-with-body "$@" ;;
    esac
}
"""
MARK = "== line "
END = "== end after "


class Block:
    def __init__(self, language, line, section):
        self.language, self.line, self.section = language, line, section
        self.lines = []

    @property
    def text(self):
        return "".join(f"{line}\n" for line in self.lines)


def blocks(page):
    """The fenced blocks of the text of a page, with the line where each begins and the heading that it is below."""
    found, open_block, section = [], None, ""
    for number, line in enumerate(page.splitlines(), 1):
        if open_block is not None and line == "```":
            found.append(open_block)
            open_block = None
        elif open_block is not None:
            open_block.lines.append(line)
        elif line.startswith("```"):
            open_block = Block(line[3:], number, section)
        elif line.startswith("#"):
            section = line
    if open_block is not None:
        raise ValueError(f"the block at line {open_block.line} does not end")
    return found


def script(page):
    """One script of all blocks to run. Before each block it prints a mark with the block's line, at its end how long it took."""
    text = PRELUDE
    for block in blocks(page):
        if block.language == "sh":
            text += f"printf '\\n{MARK}%s\\n' {block.line}\n{block.text}"
    return text + f"printf '\\n{END}%s s\\n' \"$SECONDS\"\n"


def outputs(written):
    """What each block has written, by its line; `seconds` is none if the script did not come to its end."""
    by_line, seconds, current = {}, None, None
    for line in written.splitlines():
        if line.startswith(MARK):
            current = int(line[len(MARK):])
            by_line[current] = []
        elif line.startswith(END):
            seconds = int(line[len(END):].removesuffix(" s"))
        elif current is not None:
            by_line[current].append(line.strip())
    return by_line, seconds


def missing_line(expected, written):
    """The first of the expected lines that is not there, in this order; none if all are."""
    rest = iter(written)
    for line in expected:
        pattern = re.compile(".*".join(re.escape(part) for part in line.strip().split("…")))
        if not any(pattern.fullmatch(each) for each in rest):
            return line
    return None


def compare(page, written):
    """What is wrong, as sentences."""
    by_line, seconds = outputs(written)
    if seconds is None:
        if not by_line:
            return [f"no block was run:\n{written}"]
        last = max(by_line)
        return ["\n".join([f"the block at line {last} failed:"] + by_line[last][-40:])]
    problems, latest = [], None
    for block in blocks(page):
        if block.language == "sh":
            latest = block
        elif block.language == "text":
            line = missing_line(block.lines, by_line[latest.line])
            if line is not None:
                said = "\n".join(by_line[latest.line][-40:])
                problems.append(f"the block at line {latest.line} does not print '{line}', but:\n{said}")
    return problems


def main(verb, folder, pages):
    folder, bad = pathlib.Path(folder), False
    for name in pages:
        page, stem = (ROOT / name).read_text(), pathlib.Path(name).stem
        if verb == "scripts":
            (folder / f"{stem}.sh").write_text(script(page))
            continue
        written = folder / f"{stem}.out"
        problems = compare(page, written.read_text()) if written.exists() else ["was not run"]
        for problem in problems:
            print(f"{name}: {problem}")
        bad = bad or bool(problems)
        if not problems:
            print(f"{name}: as written, in {outputs(written.read_text())[1]} s")
    return 1 if bad else 0


if __name__ == "__main__":
    if sys.argv[1:] in (["installed"], ["chart"]):
        print("\n".join(INSTALLED if sys.argv[1] == "installed" else CHART))
        sys.exit(0)
    if len(sys.argv) < 4 or sys.argv[1] not in ("scripts", "compare"):
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1], sys.argv[2], sys.argv[3:]))
