#!/usr/bin/python3
"""manifests.py CRD-FOLDER FILE...: each object in the files is one of Kubernetes 1.27 to 1.33 without an unknown key, as
kubernetes-validate has them, or one of prometheus-operator as its custom resource definitions in CRD-FOLDER say. Objects of the
Gateway API are only listed: their definitions are in no package."""

import pathlib
import sys

import jsonschema
import kubernetes_validate
import yaml

VERSIONS = [f"1.{minor}" for minor in range(27, 34)]
DEFINITIONS = ("monitoring.coreos.com_servicemonitors.yaml", "monitoring.coreos.com_prometheusrules.yaml")
NOT_CHECKED = {"gateway.networking.k8s.io/v1"}


def closed(schema):
    """The schema, refusing keys that it does not name."""
    if isinstance(schema, list):
        return [closed(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    made = {key: closed(value) for key, value in schema.items()}
    if "properties" in schema and "additionalProperties" not in schema and not schema.get("x-kubernetes-preserve-unknown-fields"):
        made["additionalProperties"] = False
    if schema.get("x-kubernetes-int-or-string"):
        made.pop("type", None)
    return made


def definitions(folder):
    found = {}
    for name in DEFINITIONS:
        made = yaml.safe_load((pathlib.Path(folder) / name).read_text())
        for version in made["spec"]["versions"]:
            schema = closed(version["schema"]["openAPIV3Schema"])
            for key in ("apiVersion", "kind", "metadata"):
                schema["properties"][key] = {}
            found[f"{made['spec']['group']}/{version['name']}", made["spec"]["names"]["kind"]] = schema
    return found


def problems_of(found, known):
    kind = (found["apiVersion"], found["kind"])
    if kind in known:
        return [f"{'/'.join(map(str, error.absolute_path))}: {error.message}" for error in jsonschema.Draft7Validator(known[kind]).iter_errors(found)]
    said = []
    for version in VERSIONS:
        try:
            kubernetes_validate.validate(found, version, strict=True)
        except Exception as error:  # pylint: disable=broad-except; its errors have no common base
            said.append(f"{version}: {str(error).splitlines()[0]}")
    return said


def main():
    known = definitions(sys.argv[1])
    bad, count = 0, 0
    for path in sys.argv[2:]:
        for found in yaml.safe_load_all(pathlib.Path(path).read_text()):
            if found is None or found["apiVersion"] in NOT_CHECKED:
                continue
            count += 1
            for problem in problems_of(found, known):
                print(f"{path}: {found['kind']}: {problem}")
                bad = 1
    print(f"manifests: {count} objects")
    sys.exit(bad)


main()
