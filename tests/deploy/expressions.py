"""Prints every expression of the dashboards and rules, one a line, with the variables of the dashboards filled in."""

import json
import pathlib

import yaml

ROOT = pathlib.Path(__file__).resolve().parents[2]
VALUES = {"$__rate_interval": "1m", "$job": "cardea", "$agent": ".*", "$instance": ".*"}


def expressions():
    for path in sorted((ROOT / "deploy/grafana/dashboards").glob("*.json")):
        for panel in json.loads(path.read_text())["panels"]:
            yield from (target["expr"] for target in panel.get("targets", []))
    for group in yaml.safe_load((ROOT / "deploy/prometheus/cardea.rules.yml").read_text())["groups"]:
        yield from (rule["expr"] for rule in group["rules"])


for expression in expressions():
    for name, value in VALUES.items():
        expression = expression.replace(name, value)
    print(" ".join(expression.split()))
