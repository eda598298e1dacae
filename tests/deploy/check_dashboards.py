#!/usr/bin/python3
"""The dashboards of deploy/grafana: as make_dashboards.py writes them, ids unique, panels side by side, each with a description,
a unit and expressions that Prometheus can parse, variables defined and used, no unknown metric, and none without a use."""

import collections
import itertools
import json
import pathlib
import re
import subprocess
import sys
import tempfile

import yaml

import metrics

ROOT = pathlib.Path(__file__).resolve().parents[2]
MAKER = ROOT / "deploy/grafana/make_dashboards.py"
FOLDER = ROOT / "deploy/grafana/dashboards"
RULES = ROOT / "deploy/prometheus/cardea.rules.yml"
UNUSED = ROOT / "tests/deploy/unused_metrics.txt"
NAMES = {"cardea-overview", "cardea-agent", "cardea-cards", "cardea-mcp", "cardea-gateway"}
OF_GRAFANA = {"__rate_interval", "__all"}
WIDTH = 24

problems = []


def complain(text):
    problems.append(text)


def check_made():
    with tempfile.TemporaryDirectory() as scratch:
        subprocess.run([MAKER, "--output", scratch], check=True)
        made = {path.name: path.read_text() for path in pathlib.Path(scratch).iterdir()}
    kept = {path.name: path.read_text() for path in FOLDER.iterdir()}
    for name in sorted(made.keys() | kept.keys()):
        if made.get(name) != kept.get(name):
            complain(f"{name} is not what make_dashboards.py writes: run it")


def overlap(one, other):
    a, b = one["gridPos"], other["gridPos"]
    return a["x"] < b["x"] + b["w"] and b["x"] < a["x"] + a["w"] and a["y"] < b["y"] + b["h"] and b["y"] < a["y"] + a["h"]


def check_places(where, panels):
    for number, times in collections.Counter(panel["id"] for panel in panels).items():
        if times > 1:
            complain(f"{where}: {times} panels have the id {number}")
    for panel in panels:
        place = panel["gridPos"]
        if place["x"] < 0 or place["x"] + place["w"] > WIDTH or place["w"] < 1 or place["h"] < 1:
            complain(f"{where}: {panel['title']} is not within {WIDTH} columns")
    for one, other in itertools.combinations(panels, 2):
        if overlap(one, other):
            complain(f"{where}: {one['title']} and {other['title']} overlap")


def check_panel(where, panel):
    name = f"{where}: {panel['title']}"
    if not panel.get("description"):
        complain(f"{name} has no description")
    if not panel["fieldConfig"]["defaults"].get("unit"):
        complain(f"{name} has no unit")
    if not panel.get("targets"):
        complain(f"{name} has no expression")
    for part in [panel, *panel.get("targets", [])]:
        if part.get("datasource") != {"type": "prometheus", "uid": "${datasource}"}:
            complain(f"{name} does not use the variable datasource")
    ids = [target["refId"] for target in panel.get("targets", [])]
    if len(ids) != len(set(ids)):
        complain(f"{name} uses a refId twice")


def check_variables(where, dashboard, expressions):
    variables = dashboard["templating"]["list"]
    defined = {variable["name"] for variable in variables}
    queries = [variable["query"]["query"] for variable in variables if variable["type"] == "query"]
    used = set(re.findall(r"\$\{?(\w+)", " ".join([*expressions, *queries]))) - OF_GRAFANA
    for name in sorted(used - defined):
        complain(f"{where}: the variable {name} is not defined")
    for name in sorted(defined - used - {"datasource"}):
        complain(f"{where}: nothing uses the variable {name}")
    if "datasource" not in defined or not defined & {"agent", "instance"}:
        complain(f"{where}: the data source, and the agent or the gateway, cannot be chosen")


def check_syntax(expressions):
    """Prometheus parses each expression, as the expression of a rule."""
    rules = []
    for i, (where, expression) in enumerate(expressions):
        filled = expression.replace("$__rate_interval", "5m")
        rules.append({"record": f"expression:{i}", "expr": filled, "labels": {"where": where}})
    with tempfile.NamedTemporaryFile("w", suffix=".yml") as file:
        yaml.safe_dump({"groups": [{"name": "expressions", "rules": rules}]}, file)
        file.flush()
        done = subprocess.run(["promtool", "check", "rules", file.name], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        complain(f"promtool check rules:\n{done.stdout}{done.stderr}")


def check_uses(expressions):
    rules = [rule for group in yaml.safe_load(RULES.read_text())["groups"] for rule in group["rules"]]
    records = {rule["record"] for rule in rules if "record" in rule}
    used = set()
    for where, expression in expressions:
        names = metrics.used(expression)
        used |= names
        for name in sorted(names - metrics.known() - records):
            complain(f"{where}: no metric is called {name}")
    used = used.union(*(metrics.used(rule["expr"]) for rule in rules))
    reasons = [line.split(maxsplit=1) for line in UNUSED.read_text().splitlines() if line and not line.startswith("#")]
    excused = {words[0] for words in reasons if len(words) == 2}
    for name in sorted(metrics.known() - used - excused):
        complain(f"no panel and no rule uses {name}: use it, or give a reason in {UNUSED.name}")
    for name in sorted(excused & used) + sorted(excused - metrics.known()):
        complain(f"{UNUSED.name}: {name} is used, or does not exist")


def main():
    check_made()
    expressions = []
    count = 0
    dashboards = [json.loads(path.read_text()) for path in sorted(FOLDER.glob("*.json"))]
    if {dashboard["uid"] for dashboard in dashboards} != NAMES or len(dashboards) != len(NAMES):
        complain(f"the dashboards are not {', '.join(sorted(NAMES))}")
    for dashboard in dashboards:
        where = dashboard["uid"]
        panels = [panel for panel in dashboard["panels"] if panel["type"] != "row"]
        check_places(where, dashboard["panels"])
        for panel in panels:
            check_panel(where, panel)
        mine = [(f"{where}: {panel['title']}", target["expr"]) for panel in panels for target in panel["targets"]]
        check_variables(where, dashboard, [expression for _, expression in mine])
        expressions += mine
        count += len(panels)
    check_syntax(expressions)
    check_uses(expressions)
    for problem in problems:
        print(f"check_dashboards: {problem}")
    if not problems:
        print(f"check_dashboards: {len(dashboards)} dashboards, {count} panels, {len(expressions)} expressions")
    return 1 if problems else 0


sys.exit(main())
