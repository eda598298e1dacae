#!/usr/bin/env bash
# README.md and docs/ say what is: links and paths lead somewhere, functions exist, every configuration key is one, every room and
# event is listed. Answers, limits and metrics are pages that the test `reference_pages` compares with the code.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

pages=(README.md docs/*.md docs/operations/*.md docs/tutorials/*.md docs/extensions/*.md deploy/README.md)
bad=0

complain() {
    printf '%s\n' "$*"
    bad=1
}

# What stands between backticks on one line, outside of fenced blocks: PAGE:LINE<tab>TEXT.
code_spans() {
    awk '/^```/ { fenced = !fenced; next }
        !fenced {
            line = $0
            while (match(line, /`[^`]+`/)) {
                printf "%s:%d\t%s\n", FILENAME, FNR, substr(line, RSTART + 1, RLENGTH - 2)
                line = substr(line, RSTART + RLENGTH)
            }
        }' "$@"
}

# A heading as GitHub makes an anchor of it.
anchors() {
    sed -nE 's/^#+ +(.*)$/\1/p' "$1" | tr '[:upper:]' '[:lower:]' | tr -d "\`'.,:()/" | tr ' ' '-'
}

check_links() {
    local page target file anchor
    for page in "${pages[@]}"; do
        while IFS= read -r target; do
            case $target in *://* | mailto:*) continue ;; esac
            file=${target%%#*}
            anchor=
            if [[ $target == *'#'* ]]; then
                anchor=${target#*#}
            fi
            if [ -n "$file" ]; then
                file=$(dirname "$page")/$file
            else
                file=$page
            fi
            if [ ! -e "$file" ]; then
                complain "$page: the link $target leads nowhere"
            elif [ -n "$anchor" ] && ! anchors "$file" | grep -qxF -- "$anchor"; then
                complain "$page: $file has no heading #$anchor"
            fi
        done < <(grep -oE '\]\([^) ]+\)' "$page" | sed -E 's/^\]\((.*)\)$/\1/')
    done
}

# A path is what begins with a folder of ours, or is a source file or page by its name. Some management methods look the same.
check_paths() {
    local where text
    while IFS=$'\t' read -r where text; do
        if [[ $text =~ ^(\./)?(\.ci|a2a|bench|config|core|deploy|docs|examples|gateway|mcp|net|store|tests)/[^\ \<]*$ ]] ||
            [[ $text =~ ^(\./)?[A-Za-z0-9_./-]+\.(md|hpp|cpp|sh|cmake)$ ]]; then
            compgen -G "$text" >/dev/null || grep -rqF "\"$text\"" gateway/management --include='*.cpp' || complain "$where: there is no $text"
        fi
    done < <(code_spans "${pages[@]}")
}

# The tables of rooms in docs/architecture.md have every folder of gateway/.
check_rooms() {
    local listed room
    # shellcheck disable=SC2016
    listed=$(sed -nE 's/^\| `(gateway\/[a-z0-9\/]+)\/` .*/\1/p' docs/architecture.md | sort)
    while read -r room; do
        complain "docs/architecture.md and gateway/: only one of them has the room $room"
    done < <(comm -3 <(echo "$listed") <(find gateway -mindepth 1 -path gateway/console/page -prune -o -type d -print | sort) | tr -d '\t')
}

# `name()` and `type::name()` are functions of ours.
check_functions() {
    local where text name
    while IFS=$'\t' read -r where text; do
        [[ $text =~ ^[a-z_][a-z0-9_:]*\(\)$ ]] || continue
        name=${text%()}
        grep -rqE "\b${name##*::}\(" core jose net config store a2a mcp gateway examples --include='*.hpp' --include='*.cpp' ||
            complain "$where: there is no function $text"
        if [[ $name == *::* ]]; then
            grep -rqE "\b${name%%::*}\b" core jose net config store a2a mcp gateway --include='*.hpp' || complain "$where: there is no $text"
        fi
    done < <(code_spans "${pages[@]}")
}

# The keys of docs/configuration.md, agents' below `agents.ID.`; those whose members are not ours end in `.*`.
known_keys() {
    awk -F'|' '
        /^## Agents/ { prefix = "agents.ID." }
        /^## Access/ { prefix = "access." }
        /^## Files/ { prefix = "agents.ID." }
        /^\| `/ {
            key = $2; gsub(/[ `]/, "", key)
            print prefix key ($3 ~ /^ *(a )?map/ ? ".*" : "")
        }' docs/configuration.md
}

# The keys of fenced YAML in block style: PAGE:LINE<tab>PATH.
yaml_keys() {
    awk '
        FNR == 1 { inside = 0 }
        /^```/ { inside = /^```yaml/; depth = 0; next }
        inside && /^ *[A-Za-z0-9_.-]+:( |$)/ {
            match($0, /^ */); indent = RLENGTH
            key = substr($0, indent + 1); sub(/:.*/, "", key)
            while (depth > 0 && indents[depth] >= indent) depth--
            path = depth > 0 ? paths[depth] "." key : key
            indents[++depth] = indent; paths[depth] = path
            printf "%s:%d\t%s\n", FILENAME, FNR, path
        }' "$@"
}

is_known() {
    local path=$1 key
    for key in "${keys[@]}"; do
        case $key in
            *.\*) [[ $path == "${key%.\*}" || $path == "${key%\*}"* ]] && return 0 ;;
            *) [[ $key == "$path" ]] && return 0 ;;
        esac
        [[ $key == "$path".* ]] && return 0
    done
    return 1
}

check_keys() {
    local where text section
    mapfile -t keys < <(known_keys)
    [ "${#keys[@]}" -gt 20 ] || complain "docs/configuration.md: its keys cannot be read any more"
    while IFS=$'\t' read -r where text; do
        text=$(sed -E 's/^(agents|mcpServers)\.[^.]+/agents.ID/' <<<"$text")
        is_known "$text" || [ "$text" = agents ] || [ "$text" = mcpServers ] || complain "$where: $text is no key of docs/configuration.md"
    done < <(yaml_keys "${pages[@]}")
    # `section.key`, also with a value behind it. The management methods look the same.
    section=$(printf '%s\n' "${keys[@]}" | sed -nE 's/^(agents\.ID\.)?([a-z]+)\..*/\2/p' | sort -u | paste -sd'|')
    while IFS=$'\t' read -r where text; do
        [[ $text =~ ^($section)\.[A-Za-z_]+(:.*)?$ ]] || continue
        text=${text%%:*}
        grep -qF "\"${text/./\/}\"" gateway/management/management.cpp && continue
        is_known "$text" || is_known "agents.ID.$text" || complain "$where: $text is no key of docs/configuration.md"
    done < <(code_spans "${pages[@]}")
}

# An event follows its level in the code; those of docs/events.md are texts of the code.
check_events() {
    local listed logged name
    # shellcheck disable=SC2016
    listed=$(sed -nE '/^## Audit/q; /^\| `[a-z_`, ]+ \| [a-z]/s/^\|([^|]*)\| (info|warn|error|debug|as).*/\1/p' docs/events.md | grep -oE '[a-z_]+' | sort -u)
    logged=$(grep -rPzoh --include='*.cpp' --include='*.hpp' 'log_level::\w+,\s*(\w+ \? )?"[a-z_]+"( : "[a-z_]+")?' core mcp net gateway store |
        tr '\0' '\n' | grep -oE '"[a-z_]+"' | tr -d '"' | grep -vxE 'debug|info|warn|error|off' | sort -u)
    [ "$(wc -l <<<"$logged")" -gt 20 ] || complain "the events of the code cannot be read any more"
    while read -r name; do
        complain "docs/events.md has no row for $name"
    done < <(comm -13 <(echo "$listed") <(echo "$logged"))
    for name in $listed; do
        grep -rqF "\"$name" core mcp net gateway store --include='*.cpp' --include='*.hpp' || complain "docs/events.md: nothing logs $name"
    done
}

check_links
check_paths
check_rooms
check_functions
check_keys
check_events
exit "$bad"
