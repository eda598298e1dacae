#!/usr/bin/python3
"""make_config_man.py PAGE VERSION: prints docs/configuration.md as the man page cardea.yml.5. A row of a table of keys is
an entry; of the other tables, each row is one too."""

import pathlib
import re
import sys

from roff import entry, roff, title


def plain(text):
    """Links without their targets, and what Markdown escapes."""
    text = re.sub(r"\[([^\]]+)\]\([^)]+\)", r"\1", text)
    return text.replace("\\|", "|").strip()


def row(cells):
    key, *rest = [plain(cell) for cell in cells]
    key = key.replace("`", "")
    if len(rest) == 3:  # written as, default, meaning
        written, default, meaning = rest
        details = f"({written}" + (f"; default {default})" if default else ")")
        return entry(key, f"{details} {meaning}")
    return entry(key, ": ".join(rest))


def convert(page):
    fenced, paragraph, out = False, [], []

    def flush():
        if paragraph:
            text = " ".join(paragraph)
            begin = ".IP \\(bu 2\n" if text.startswith("- ") else ".PP\n"
            out.append(begin + roff(plain(text.removeprefix("- "))) + "\n")
            paragraph.clear()

    for line in page.splitlines():
        cells = re.split(r"(?<!\\)\|", line)[1:-1] if line.startswith("|") and not fenced else []
        if line.startswith("```"):
            flush()
            fenced = not fenced
            out.append(".PP\n.nf\n.RS 4\n" if fenced else ".RE\n.fi\n")
        elif fenced:
            out.append(roff(line, 0).replace("\\fB", "").replace("\\fR", "") + "\n")
        elif line.startswith("#"):
            flush()
            level, text = re.match(r"(#+) +(.*)", line).groups()
            if len(level) > 1:
                out.append((f".SH {roff(plain(text).upper(), 0)}\n" if len(level) == 2 else f".SS {roff(plain(text), 0)}\n"))
        elif cells:
            flush()
            if not re.match(r"[| -]+$", line) and plain(cells[0]) not in ("key", "key of MCP clients"):
                out.append(row(cells))
        elif not line.strip() or line.startswith("<!--"):
            flush()
        elif line.startswith("- "):
            flush()
            paragraph.append(line)
        else:
            paragraph.append(line.strip())
    flush()
    return re.sub(r"(\.(?:SH|SS) .*\n)\.PP\n", r"\1", "".join(out))


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    text = title("CARDEA.YML", 5, sys.argv[2], "File Formats")
    text += ".SH NAME\ncardea.yml \\- configuration of Cardea\n.SH DESCRIPTION\n"
    text += convert(pathlib.Path(sys.argv[1]).read_text()).removeprefix(".PP\n")
    sys.stdout.write(text + ".SH SEE ALSO\n.BR cardea (1)\n")


main()
