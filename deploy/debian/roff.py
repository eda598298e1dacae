"""Text as man pages want it."""

import datetime
import os
import re
import textwrap


def roff(text, width=78):
    """Text with `code` and **strong**, in lines of at most `width`; 0 keeps the lines."""
    text = text.replace("\\", "\\e").replace("-", "\\-")
    text = re.sub(r"``? ?(.+?) ?``?", r"\\fB\1\\fR", text)
    text = re.sub(r"\*\*([^*]+)\*\*", r"\\fB\1\\fR", text)
    if width:
        text = "\n".join(textwrap.wrap(text, width, break_long_words=False, break_on_hyphens=False))
    return re.sub(r"^(\\fB)?([.'])", r"\1\\&\2", text, flags=re.MULTILINE)


def entry(name, text):
    return f".TP\n\\fB{roff(name, 0)}\\fR\n{roff(text)}\n"


def title(name, section, source, manual):
    """The date is that of the change that is packaged, so that two builds give the same bytes."""
    since = int(os.environ.get("SOURCE_DATE_EPOCH") or datetime.datetime.now().timestamp())
    day = datetime.datetime.fromtimestamp(since, datetime.timezone.utc).date().isoformat()
    return f'.TH {name} {section} "{day}" "{source}" "{manual}"\n'
