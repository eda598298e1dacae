#!/usr/bin/python3
"""make_help.py CARDEA FOLDER: writes the man page cardea.1 and the completions for bash, zsh and fish, from what
`CARDEA VERB --help` prints."""

import pathlib
import re
import subprocess
import sys
from dataclasses import dataclass, field

from roff import entry, roff, title


@dataclass
class Option:
    short: str
    long: str
    value: str
    text: str

    def names(self):
        return [name for name in (self.short, self.long) if name]

    def choices(self):
        return self.value.split("|") if re.fullmatch(r"[a-z0-9]+(\|[a-z0-9]+)+", self.value) else []

    def is_file(self):
        return self.value == "FILE"

    def is_id(self):
        return self.value == "ID"


@dataclass
class Verb:
    path: tuple
    text: str = ""
    usage: str = ""
    footer: str = ""
    arguments: list = field(default_factory=list)  # (name, text)
    options: list = field(default_factory=list)
    verbs: dict = field(default_factory=dict)  # first name: (all names, Verb)


def entries(lines):
    """Lines `  name   text`, of which the text may go on in the next lines: (name, text)."""
    found = []
    for line in lines:
        begin = re.match(r"  (\S.*?)(?:  +(.*))?$", line)
        if begin:
            found.append([begin.group(1), begin.group(2) or ""])
        elif line.strip() and found:
            found[-1][1] += " " + line.strip()
    return [(name, text.strip()) for name, text in found]


def read_help(cardea, path=()):
    printed = subprocess.run([cardea, *path, "--help"], check=True, capture_output=True, text=True).stdout
    verb = Verb(path)
    section, sections, rest = "", {}, []
    for line in printed.splitlines():
        heading = re.fullmatch(r"(Arguments|Options|Verbs):", line)
        if heading:
            section = heading.group(1)
        elif line.startswith("Usage: "):
            verb.usage = line.removeprefix("Usage: ")
        elif section and (line.startswith("  ")):
            sections.setdefault(section, []).append(line)
        elif not verb.usage:
            verb.text = f"{verb.text} {line}".strip()
        else:
            section = ""
            rest.append(line)
    verb.footer = "\n".join(rest).strip("\n")
    verb.arguments = entries(sections.get("Arguments", []))
    for name, text in entries(sections.get("Options", [])):
        short, long, value = re.fullmatch(r"(?:(-\w),?)?(--[\w-]+)?(?: (.+))?", name).groups()
        verb.options.append(Option(short or "", long or "", value or "", text))
    for names, text in entries(sections.get("Verbs", [])):
        names = names.split(", ")
        verb.verbs[names[0]] = (names, read_help(cardea, (*path, names[0])))
    return verb


def takes_id(verb):
    """Whether its first argument is the id of an agent that exists."""
    return bool(verb.arguments) and verb.arguments[0][0] == "ID" and verb.path != ("agents", "add")


def all_verbs(verb):
    yield verb
    for _, below in verb.verbs.values():
        yield from all_verbs(below)


def one_line(text):
    return text.replace("`", "").split(". ")[0].removesuffix(".")


# The man page.

def man_verb(verb):
    text = f".SS {roff(' '.join(['cardea', *verb.path]))}\n{roff(verb.text + '.')}\n.PP\n\\fB{roff(verb.usage, 0)}\\fR\n"
    for name, about in verb.arguments:
        text += entry(name, about)
    for option in verb.options:
        if option.long != "--help":
            text += entry(", ".join(option.names()) + (f" {option.value}" if option.value else ""), option.text)
    if verb.footer and not verb.footer.startswith("`"):
        text += ".PP\n.nf\n" + roff(verb.footer, 0) + "\n.fi\n"
    return text


def man_page(top, version):
    leaves = [verb for verb in all_verbs(top) if verb.path and not verb.verbs]
    text = title("CARDEA", 1, version, "User Commands")
    text += ".SH NAME\ncardea \\- gateway for A2A agents and MCP servers\n"
    text += ".SH SYNOPSIS\n" + "".join(f".B cardea {roff(' '.join(verb.path))}\n.RI [ options ]\n.br\n" for verb in leaves)
    text = text.removesuffix(".br\n")
    text += ".SH DESCRIPTION\n" + roff(
        "Cardea is one process with one address. Behind it, every agent has an address for calls and an agent card, and the "
        "agents' own addresses stay hidden. The service cardea.service runs it with the configuration /etc/cardea/cardea.yml."
    ) + "\n.SH VERBS\n" + "".join(man_verb(verb) for verb in leaves)
    text += ".SH SIGNALS\n"
    text += entry("SIGTERM, SIGINT", "Ends the gateway after the calls in flight, at most after `timeouts.drain`. A second one cuts them.")
    text += entry("SIGHUP", "Reads the configuration and the certificates again.")
    text += ".SH EXIT STATUS\n.B cardea run\n"
    text += entry("0", "A graceful shutdown.") + entry("1", "A bug.")
    text += entry("2", "The command line, the configuration or an address cannot be used. stderr says what is wrong.")
    text += ".SH FILES\n" + entry("/etc/cardea/cardea.yml", "The configuration of the service.")
    text += entry("/var/lib/cardea/store.db", "Agents that were added at run time, and the last good cards.")
    text += entry("/usr/share/cardea", "Rules for Prometheus, dashboards for Grafana, the JSON Schema of the configuration.")
    return text + ".SH SEE ALSO\n.BR cardea.yml (5)\n.PP\nThe pages in /usr/share/doc/cardea.\n"


# The completions. Ids of agents come from the gateway at $CARDEA_ADMIN, which `cardea __agents` asks for at most 200 ms.

def bash(top):
    cases = ""
    for verb in all_verbs(top):
        words = [name for names, _ in verb.verbs.values() for name in names]
        words += [name for option in verb.options for name in option.names()]
        cases += f'        "{" ".join(verb.path)}") words="{" ".join(words)}" ;;\n'
    chosen = ""
    for verb in all_verbs(top):
        for option in (option for option in verb.options if option.value):  # without choices: files, which is bash's default
            keys = "|".join(f'"{" ".join([*verb.path, name])}"' for name in option.names())
            if option.is_id():
                chosen += f'        {keys}) COMPREPLY=($(compgen -W "$(_cardea_ids)" -- "$current")); return ;;\n'
                continue
            chosen += f'        {keys}) COMPREPLY=($(compgen -W "{" ".join(option.choices())}" -- "$current")); return ;;\n'
    of_agents = "|".join(f'"{" ".join([*verb.path, verb.path[-1]])}"' for verb in all_verbs(top) if takes_id(verb))
    verbs = "|".join(sorted({" ".join(verb.path) for verb in all_verbs(top) if verb.path}))
    return f"""# bash completion for cardea; written by make_help.py
_cardea_ids()
{{
    "${{COMP_WORDS[0]}}" __agents "${{COMP_WORDS[COMP_CWORD]}}" 2>/dev/null
}}
_cardea()
{{
    local current=${{COMP_WORDS[COMP_CWORD]}} previous=${{COMP_WORDS[COMP_CWORD - 1]}} path="" words="" ids="" i
    COMPREPLY=()
    for ((i = 1; i < COMP_CWORD; i++)); do
        case "${{path:+$path }}${{COMP_WORDS[i]}}" in
            {verbs.replace(' ', chr(92) + ' ')}) path="${{path:+$path }}${{COMP_WORDS[i]}}" ;;
        esac
    done
    case "${{path:+$path }}$previous" in
{chosen}    esac
    case "$path" in
{cases}    esac
    case "$path $previous" in
        {of_agents}) [[ $current == -* ]] || ids=$(_cardea_ids) ;;
    esac
    [ -z "$ids" ] || words=$ids
    COMPREPLY=($(compgen -W "$words" -- "$current"))
}}
complete -o default -F _cardea cardea
"""


def quoted(text):
    return text.replace("'", "'\\''")


def zsh_option(option):
    text = quoted(one_line(option.text)).replace("[", "\\[").replace("]", "\\]").replace(":", "\\:")
    value = ""
    if option.choices():
        value = f":value:({' '.join(option.choices())})"
    elif option.is_id():
        value = ":agent:_cardea_ids"
    elif option.value:
        value = ":file:_files" if option.is_file() else ":value:"
    return [f"'{name}[{text}]{value}'" for name in option.names()]


def zsh_function(verb):
    name = "_".join(["_cardea", *verb.path])
    options = " ".join(part for option in verb.options for part in zsh_option(option))
    if not verb.verbs:
        first = "'1:agent:_cardea_ids' " if takes_id(verb) else ""
        return f"{name}() {{\n    _arguments {options} {first}'*:argument:_files'\n}}\n"
    described = " ".join(f"'{alias}:{quoted(one_line(below.text))}'" for names, below in verb.verbs.values() for alias in names)
    branches = "".join(f"            {'|'.join(names)}) {'_'.join(['_cardea', *below.path])} ;;\n" for names, below in verb.verbs.values())
    return f"""{name}() {{
    local context state state_descr line
    typeset -A opt_args
    _arguments -C {options} '1:verb:->verb' '*::argument:->argument'
    case $state in
        verb) local -a verbs; verbs=({described}); _describe verb verbs ;;
        argument) case $line[1] in
{branches}        esac ;;
    esac
}}
"""


def zsh(top):
    ids = """_cardea_ids() {
    local -a ids
    ids=(${(f)"$(cardea __agents "$PREFIX" 2>/dev/null)"})
    compadd -a ids
}
"""
    return "#compdef cardea\n# Written by make_help.py.\n" + ids + "".join(zsh_function(verb) for verb in all_verbs(top)) + '_cardea "$@"\n'


fish_ids = "(cardea __agents (commandline -ct) 2>/dev/null)"


def fish(top):
    text = "# fish completion for cardea; written by make_help.py\n"
    for verb in all_verbs(top):
        seen = "; and ".join(f"__fish_seen_subcommand_from {word}" for word in verb.path) or "__fish_use_subcommand"
        names = [name for names, _ in verb.verbs.values() for name in names]
        if names and verb.path:
            condition = f"{seen}; and not __fish_seen_subcommand_from {' '.join(names)}"
        else:
            condition = seen
        for aliases, below in verb.verbs.values():
            for alias in aliases:
                text += f"complete -c cardea -f -n '{condition}' -a '{alias}' -d '{fish_quoted(below.text)}'\n"
        if takes_id(verb):
            text += f"complete -c cardea -f -n '{seen}; and test (commandline -opc)[-1] = {verb.path[-1]}' -a '{fish_ids}'\n"
        for option in verb.options:
            flags = (f" -s {option.short[1:]}" if option.short else "") + (f" -l {option.long[2:]}" if option.long else "")
            if option.choices():
                flags += f" -x -a '{' '.join(option.choices())}'"
            elif option.is_id():
                flags += f" -x -a '{fish_ids}'"
            elif option.value:
                flags += " -r -F" if option.is_file() else " -x"
            text += f"complete -c cardea -n '{condition}'{flags} -d '{fish_quoted(option.text)}'\n"
    return text


def fish_quoted(text):
    return one_line(text).replace("\\", "\\\\").replace("'", "\\'")


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    cardea, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    top = read_help(cardea)
    version = subprocess.run([cardea, "--version"], check=True, capture_output=True, text=True).stdout.strip()
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "cardea.1").write_text(man_page(top, version))
    (folder / "cardea.bash").write_text(bash(top))
    (folder / "_cardea").write_text(zsh(top))
    (folder / "cardea.fish").write_text(fish(top))


main()
