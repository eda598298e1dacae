"""The names of the gateway's metrics: those of docs/metrics.md, which is generated from the code, and
those that rules and dashboards use before the gateway serves them."""

import pathlib
import re

FOLDER = pathlib.Path(__file__).resolve().parent


def rows():
    page = (FOLDER.parents[1] / "docs/metrics.md").read_text()
    return re.findall(r"^\| `(\w+)` \| \w+ \|([^|]*)\|(.*)\|$", page, re.MULTILINE)


def served():
    return {name for name, _, _ in rows()}


def born_at_zero():
    """The counters that are on every page: those without labels, and those whose row says "from 0"."""
    return {name for name, labels, meaning in rows() if not labels.strip() or "from 0" in meaning}


def planned():
    lines = (FOLDER / "planned_metrics.txt").read_text().splitlines()
    return {line.split()[0] for line in lines if line and not line.startswith("#")}


def known():
    return served() | planned()


def stale_plans():
    return [f"planned_metrics.txt: {name} is served now; remove it" for name in sorted(planned() & served())]


def used(expression):
    """The metrics of an expression, without the parts of histograms; `up` is Prometheus's own."""
    bare = re.sub(r'"[^"]*"', '""', expression)
    found = re.findall(r"\b(?:agent:|cardea:)?(?:cardea|process)_[a-z0-9_:]+|\bcardea:[a-z0-9_:]+", bare)
    return {re.sub(r"_(bucket|sum|count)$", "", name) for name in found}
