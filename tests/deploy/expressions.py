"""expressions.py panels|records|alerts: prints every expression of the dashboards, of the recording rules or of the alerts, one a line,
with the variables of the dashboards filled in."""

import json
import pathlib
import sys

import yaml

ROOT = pathlib.Path(__file__).resolve().parents[2]
VALUES = {"$__rate_interval": "1m", "$job": "cardea", "$agent": ".*", "$instance": ".*"}


def of_panels():
    for path in sorted((ROOT / "deploy/grafana/dashboards").glob("*.json")):
        for panel in json.loads(path.read_text())["panels"]:
            yield from (target["expr"] for target in panel.get("targets", []))


def of_rules(kind):
    for group in yaml.safe_load((ROOT / "deploy/prometheus/cardea.rules.yml").read_text())["groups"]:
        yield from (rule["expr"] for rule in group["rules"] if kind in rule)


if len(sys.argv) != 2 or sys.argv[1] not in ("panels", "records", "alerts"):
    sys.exit(__doc__)
for expression in of_panels() if sys.argv[1] == "panels" else of_rules(sys.argv[1].removesuffix("s")):
    for name, value in VALUES.items():
        expression = expression.replace(name, value)
    print(" ".join(expression.split()))
