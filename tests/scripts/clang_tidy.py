#!/usr/bin/env python3
"""clang_tidy.py LINT_BUILD DEPS_BUILD [REGEX]: clang-tidy over the sources that REGEX finds, as many at once as there are cores.

A source that was clean is not looked at again until it, a header of ours that it includes, its command or a .clang-tidy changes:
LINT_BUILD/clean has a hash of all these. LINT_BUILD has the commands, DEPS_BUILD was built and knows the headers (ninja's deps).
Exit code 1: at least one source has findings, which are printed.
"""
import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys

root = pathlib.Path.cwd()
lint_build = root / sys.argv[1]
deps_build = root / sys.argv[2]
wanted = re.compile(sys.argv[3] if len(sys.argv) > 3 else "")
clean_folder = lint_build / "clean"


def headers_of_sources():
    """Each source, with the files of ours that it includes."""
    text = subprocess.run(["ninja", "-C", deps_build, "-t", "deps"], check=True, capture_output=True, text=True).stdout
    found = {}
    for block in text.split("\n\n"):
        lines = block.splitlines()
        if not lines or not lines[0].endswith("(VALID)"):
            continue
        files = [os.path.normpath(os.path.join(deps_build, line.strip())) for line in lines[1:] if "/usr/" not in line]
        ours = [file for file in files if file.startswith(f"{root}/") and not file.startswith(f"{root}/build/")]
        if ours:
            found[ours[0]] = [pathlib.Path(file) for file in ours]
    return found


def state_of(entry, files):
    state = hashlib.sha256(entry["command"].encode())
    for file in sorted({*files, root / ".clang-tidy", *root.glob("*/.clang-tidy")}):
        state.update(f"{file}\n".encode() + file.read_bytes())
    return state.hexdigest()


def look(entry, files):
    """What clang-tidy says of a source; nothing: it is clean."""
    stamp = clean_folder / pathlib.Path(entry["file"]).relative_to(root)
    state = state_of(entry, files) if files else None
    if state and stamp.is_file() and stamp.read_text() == state:
        return ""
    ended = subprocess.run(
        ["clang-tidy-19", "-quiet", "-p", lint_build, entry["file"]], capture_output=True, text=True, check=False
    )
    if ended.returncode != 0:
        return ended.stdout or ended.stderr
    if state:
        stamp.parent.mkdir(parents=True, exist_ok=True)
        stamp.write_text(state)
    return ""


def main():
    headers = headers_of_sources()
    entries = {entry["file"]: entry for entry in json.loads((lint_build / "compile_commands.json").read_text())}
    chosen = [entry for file, entry in sorted(entries.items()) if wanted.search(file) and root / "build" not in pathlib.Path(file).parents]
    bad = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for said in pool.map(lambda entry: look(entry, headers.get(entry["file"])), chosen):
            if said:
                bad += 1
                print(said, flush=True)
    print(f"clang-tidy: {len(chosen)} sources, {bad} with findings", file=sys.stderr)
    return 1 if bad or not chosen else 0


sys.exit(main())
