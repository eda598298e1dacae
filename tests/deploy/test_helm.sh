#!/usr/bin/env bash
# The Helm chart: helm lint --strict, each tests/deploy/helm/*.values.yaml renders as its golden file and is right for Kubernetes
# 1.27 to 1.33 and prometheus-operator, each *.fails.yaml is refused with the sentence in its first line. What the pages about the
# chart have a reader paste runs and prints what they say (documents.py).
# `./dev deploy-test helm` calls this. With --update it writes the golden files.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

update=${1:-}
chart=deploy/helm/cardea
cases=tests/deploy/helm
tools=$PWD/build/tools
operator=github.com/prometheus-operator/prometheus-operator@v0.70.0
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
bad=0

complain() {
    printf 'test_helm: %s\n' "$*"
    bad=1
}

export GOPATH=$tools/go GOBIN=$tools/bin GOFLAGS="-mod=mod -modcacherw" GOTOOLCHAIN=local
if [ ! -x "$tools/bin/helm" ]; then
    echo "test_helm: building helm" >&2
    go install helm.sh/helm/v3/cmd/helm@v3.12.3
fi
definitions=$GOPATH/pkg/mod/$operator/example/prometheus-operator-crd
if [ ! -d "$definitions" ]; then
    (cd "$scratch" && go mod download "$operator")
fi
python=$tools/python/bin/python3
if ! "$python" -c 'import kubernetes_validate' 2>/dev/null; then
    python3 -m venv "$tools/python"
    "$python" -m pip install -q kubernetes-validate==1.37.0 pyyaml >&2
fi

# render NAME VALUES: in $scratch/NAME.yaml
render() { "$tools/bin/helm" template cardea "$chart" --namespace agents --kube-version 1.30.0 -f "$2" >"$scratch/$1.yaml" 2>"$scratch/$1.said"; }

check_accepted() {
    local values name
    for values in "$cases"/*.values.yaml; do
        name=$(basename "$values" .values.yaml)
        "$tools/bin/helm" lint --strict --quiet "$chart" -f "$values" >"$scratch/lint" 2>&1 || complain "$name: helm lint: $(cat "$scratch/lint")"
        render "$name" "$values" || {
            complain "$name: $(cat "$scratch/$name.said")"
            continue
        }
        if [ "$update" = --update ]; then
            cp "$scratch/$name.yaml" "$cases/$name.golden.yaml"
        fi
        diff -u "$cases/$name.golden.yaml" "$scratch/$name.yaml" || complain "$name is not as its golden file; --update if that is right"
    done
}

check_refused() {
    local values name sentence
    for values in "$cases"/*.fails.yaml; do
        name=$(basename "$values" .fails.yaml)
        sentence=$(sed -n '1s/^# //p' "$values")
        if render "$name" "$values"; then
            complain "$name is not refused"
        fi
        grep -qF -- "$sentence" "$scratch/$name.said" || complain "$name is refused with: $(cat "$scratch/$name.said")"
    done
}

# What the chart makes of the rules is still a file of rules.
check_rules() {
    "$python" - "$cases/monitoring.golden.yaml" >"$scratch/rules.yml" <<'END'
import sys
import yaml
rules = [found for found in yaml.safe_load_all(open(sys.argv[1])) if found and found["kind"] == "PrometheusRule"]
assert all("https://wiki.example.com/cardea/docs/runbook.md#" in rule["annotations"]["runbook_url"]
           for group in rules[0]["spec"]["groups"] for rule in group["rules"] if "alert" in rule)
yaml.safe_dump(rules[0]["spec"], sys.stdout)
END
    promtool check rules "$scratch/rules.yml" >"$scratch/promtool" 2>&1 || complain "$(cat "$scratch/promtool")"
}

# What the pages about the chart have a reader paste, in a folder that has deploy/ as the top of the sources does.
check_pages() {
    local pages page name
    mapfile -t pages < <(tests/deploy/documents.py chart)
    mkdir -p "$scratch/pages/bin"
    # A helm that go has built takes Kubernetes to be 1.20; released ones know better.
    cat >"$scratch/pages/bin/helm" <<END
#!/bin/sh
[ "\$1" != template ] || set -- "\$@" --kube-version 1.30.0
exec $tools/bin/helm "\$@"
END
    chmod +x "$scratch/pages/bin/helm"
    ln -s "$PWD/deploy" "$scratch/pages/deploy"
    tests/deploy/documents.py scripts "$scratch/pages" "${pages[@]}"
    for page in "${pages[@]}"; do
        name=$(basename "$page" .md)
        (cd "$scratch/pages" && PATH="$PWD/bin:$PATH" bash "$name.sh" >"$name.out" 2>&1) || bad=1
    done
    tests/deploy/documents.py compare "$scratch/pages" "${pages[@]}" || bad=1
}

check_accepted
check_refused
check_rules
check_pages
"$python" tests/deploy/manifests.py "$definitions" "$cases"/*.golden.yaml || bad=1
[ "$bad" -eq 0 ] || exit 1
echo "test_helm: passed: $(find "$cases" -name '*.values.yaml' | wc -l) values, $(find "$cases" -name '*.fails.yaml' | wc -l) refusals"
