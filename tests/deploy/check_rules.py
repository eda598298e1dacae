#!/usr/bin/python3
"""The rules of deploy/prometheus: promtool accepts them, each alert fires, stays silent just below and resolves (alerts.yml),
names its agent or gateway, and has a heading in docs/runbook.md; each metric exists or is in planned_metrics.txt."""

import pathlib
import re
import subprocess
import sys
import tempfile

import yaml

import metrics

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDER = ROOT / "deploy/prometheus"
RULES = FOLDER / "cardea.rules.yml"
CASES = ROOT / "tests/deploy/alerts.yml"
SEVERITIES = {"critical", "warning", "info"}
FEWEST = 16

problems = []


def complain(text):
    problems.append(text)


def promtool(*arguments):
    done = subprocess.run(["promtool", *arguments], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        parts = re.split(r"^(?=Unit Testing:)", done.stdout + done.stderr, flags=re.MULTILINE)
        failed = [part for part in parts if not part.rstrip().endswith("SUCCESS")]
        complain(f"promtool {arguments[0]} {arguments[1]}:\n{''.join(failed)}")


def seconds(time):
    units = {"h": 3600, "m": 60, "s": 1}
    return sum(int(number) * units[unit] for number, unit in re.findall(r"(\d+)([hms])", time))


def anchors(page):
    headings = re.findall(r"^#+ +(.*)$", (ROOT / page).read_text(), re.MULTILINE)
    return {re.sub(r"[`'.,:()/]", "", heading.lower()).replace(" ", "-") for heading in headings}


def check_alert(alert, group):
    name = alert["alert"]
    if alert.get("labels", {}).get("severity") not in SEVERITIES:
        complain(f"{name}: severity is not one of {', '.join(sorted(SEVERITIES))}")
    summary = alert["annotations"]["summary"]
    about = "instance" if group == "cardea-gateway" else "agent"
    if f"$labels.{about} " not in summary and name not in ("CardeaMissing", "CardeaReplicaVersions"):
        complain(f"{name}: its summary does not name the {about}")
    page, _, anchor = alert["annotations"]["runbook_url"].partition("#")
    if not (ROOT / page).is_file() or anchor not in anchors(page):
        complain(f"{name}: its runbook_url leads nowhere: {page}#{anchor}")


def check_births(alert):
    """A counter that first appears with what it counts has not risen: an alert about a single rise would stay silent."""
    for name in re.findall(r"increase\((\w+)[^)]*\)\)* > 0$", alert["expr"]):
        if name not in metrics.born_at_zero():
            complain(f"{alert['alert']}: docs/metrics.md does not say that {name} is there from 0")


def expectation(alert, case, at):
    expected = [{
        "exp_labels": {**case["labels"], **alert["labels"]},
        "exp_annotations": {"summary": case["summary"], "runbook_url": alert["annotations"]["runbook_url"]},
    }]
    return {"alertname": alert["alert"], "eval_time": at, "exp_alerts": expected}


def silence(alert, at):
    return {"alertname": alert["alert"], "eval_time": at, "exp_alerts": []}


def series(lines):
    return [{"series": name, "values": values} for name, values in lines.items()]


def tests_of(alert, case):
    minutes = range(0, seconds(case["resolved"]) + 1, 60)
    below = case["below"] if isinstance(case["below"], list) else [case["below"]]
    return [
        {
            "name": f"{alert['alert']} fires and resolves",
            "interval": "15s",
            "input_series": series(case["series"]),
            "alert_rule_test": [
                silence(alert, "15s"), expectation(alert, case, case["fires"]), silence(alert, case["resolved"])],
        },
        *({
            "name": f"{alert['alert']} is silent just below",
            "interval": "15s",
            "input_series": series(lines),
            "alert_rule_test": [silence(alert, f"{at}s") for at in minutes],
        } for lines in below),
    ]


def with_records(alert, records):
    """The alert behind the recording rules that it needs. To evaluate all rules in each test takes five times as long."""
    needed, open_names = [], metrics.used(alert["expr"])
    while open_names:
        found = [rule for rule in records if rule["record"] in open_names]
        needed = found + needed
        open_names = {name for rule in found for name in metrics.used(rule["expr"])}
    return [*needed, alert]


def check_behaviour(alerts, records):
    cases = yaml.safe_load(CASES.read_text())
    for name in sorted(cases.keys() ^ {alert["alert"] for alert in alerts}):
        complain(f"{name}: only one of {RULES.name} and {CASES.name} has it")
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        files = []
        for alert in (alert for alert in alerts if alert["alert"] in cases):
            name = alert["alert"]
            group = {"name": name, "interval": "15s", "rules": with_records(alert, records)}
            (folder / f"{name}.rules").write_text(yaml.safe_dump({"groups": [group]}))
            tests = {"rule_files": [f"{name}.rules"], "evaluation_interval": "15s", "tests": tests_of(alert, cases[name])}
            (folder / f"{name}.yml").write_text(yaml.safe_dump(tests))
            files.append(str(folder / f"{name}.yml"))
        promtool("test", "rules", *files)


def main():
    promtool("check", "rules", str(RULES))
    promtool("check", "config", str(FOLDER / "prometheus.yml"))
    groups = yaml.safe_load(RULES.read_text())["groups"]
    rules = [rule for group in groups for rule in group["rules"]]
    alerts = [rule for rule in rules if "alert" in rule]
    if len(alerts) < FEWEST:
        complain(f"{len(alerts)} alerts, fewer than {FEWEST}")
    for group in groups:
        for alert in group["rules"]:
            if "alert" in alert:
                check_alert(alert, group["name"])
                check_births(alert)
    records = [rule for rule in rules if "record" in rule]
    check_behaviour(alerts, records)
    known = metrics.known() | {rule["record"] for rule in records}
    for rule in rules:
        for name in sorted(metrics.used(rule["expr"]) - known):
            complain(f"{rule.get('alert') or rule['record']}: no metric is called {name}")
    for problem in problems + metrics.stale_plans():
        print(f"check_rules: {problem}")
    if not problems:
        print(f"check_rules: {len(alerts)} alerts, {len(records)} recording rules")
    return 1 if problems or metrics.stale_plans() else 0


sys.exit(main())
