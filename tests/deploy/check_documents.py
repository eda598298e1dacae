#!/usr/bin/python3
"""The pages whose commands are tested (documents.py), without running them: bash reads each block, each expected output has its
block, and every file of the package, metric and alert that a page names exists. Which pages these are is complete. The table of
the access line has the fields that are written."""

import re
import subprocess
import sys

import yaml

import documents
import metrics

# What the package installs, and where it is in the sources.
INSTALLED = {
    "/etc/cardea/": "deploy/debian/",
    "/usr/lib/cardea/demo_agent": "examples/demo_agent.cpp",
    "/usr/share/cardea/grafana": "deploy/grafana/dashboards",
    "/usr/share/cardea/prometheus": "deploy/prometheus",
    "/usr/share/doc/cardea/changelog.gz": "deploy/package.sh",
    "/usr/share/doc/cardea/": "",
}
# What the service writes.
FOLDERS = ("/var/lib/cardea", "/var/cache/cardea")
LANGUAGES = {"sh", "text", "console"}

problems = []


def complain(where, text):
    problems.append(f"{where}: {text}")


def check_complete():
    tested = set(documents.INSTALLED + documents.CHART)
    there = {"docs/quickstart.md", "docs/upgrading.md"} | {f"docs/tutorials/{path.name}" for path in (documents.ROOT / "docs/tutorials").glob("*.md")}
    for name in sorted(tested ^ there):
        complain(name, "documents.py and docs/: only one of them has this page")


def check_blocks(name, found):
    latest = None
    for block in found:
        where = f"{name}:{block.line}"
        if block.language not in LANGUAGES:
            complain(where, f"'{block.language}' is none of {', '.join(sorted(LANGUAGES))}")
        if not block.text.strip():
            complain(where, "is empty")
        if block.language == "sh":
            latest = block
            said = subprocess.run(["bash", "-n"], input=block.text, capture_output=True, text=True, check=False)
            if said.returncode != 0 or said.stderr:
                complain(where, said.stderr.strip())
            if re.search(r"^\s*[$#] ", block.text, re.MULTILINE):
                complain(where, "has a prompt, or a comment by itself: it is pasted as it is")
        elif block.language == "text" and (latest is None or latest.section != block.section):
            complain(where, "is the output of no block in its section")
    if not any(block.language == "sh" for block in found):
        complain(name, "has nothing to run")


def source_of(path):
    for installed, source in INSTALLED.items():
        if path.startswith(installed):
            return documents.ROOT / (source + path[len(installed):])
    return None


def check_paths(name, page):
    for path in re.findall(r"(?<![\w.~])/(?:etc|usr/lib|usr/share|usr/share/doc|var/lib|var/cache)/cardea\b[\w./]*", page):
        path = path.rstrip("./")
        source = source_of(path)
        if not path.startswith(FOLDERS) and path != "/etc/cardea" and (source is None or not source.exists()):
            complain(name, f"the package has no {path}")


def check_names(name, page):
    rules = yaml.safe_load((documents.ROOT / "deploy/prometheus/cardea.rules.yml").read_text())
    alerts = {rule["alert"] for group in rules["groups"] for rule in group["rules"] if "alert" in rule}
    records = {rule["record"] for group in rules["groups"] for rule in group["rules"] if "record" in rule}
    for alert in set(re.findall(r"\bCardea[A-Z]\w+", page)) - alerts:
        complain(name, f"there is no alert {alert}")
    for record in set(re.findall(r"(?<!urn:)\b(?:agent|cardea):\w+:\w+", page)) - records:
        complain(name, f"there is no rule {record}")
    for metric in set(re.findall(r"\bcardea_[a-z0-9_]+_(?:total|seconds|bytes|up|state|info)\b|\bcardea_ready\b", page)) - metrics.known():
        complain(name, f"there is no metric {metric}")


def check_access_line():
    source = (documents.ROOT / "gateway/telemetry/access_log.cpp").read_text()
    written = set(re.findall(r'"([a-z_]+)":', source)) - {"ts", "level", "event"}
    section = (documents.ROOT / "docs/events.md").read_text().split("## The access line\n")[1].split("\n#")[0]
    told = {field for row in re.findall(r"^\|([^|]*)\|", section, re.MULTILINE) for field in re.findall(r"`(\w+)`", row)}
    for field in sorted(written ^ told):
        complain("docs/events.md", f"the access line: only one of the table and access_log.cpp has {field}")


def main():
    check_complete()
    check_access_line()
    for name in documents.INSTALLED + documents.CHART:
        page = (documents.ROOT / name).read_text()
        try:
            found = documents.blocks(page)
        except ValueError as wrong:
            complain(name, wrong)
            continue
        check_blocks(name, found)
        check_paths(name, page)
        check_names(name, page)
    for problem in problems:
        print(f"check_documents: {problem}")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
