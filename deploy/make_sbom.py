#!/usr/bin/python3
"""make_sbom.py BINARY VERSION COMMIT: prints an SPDX 2.3 document of the gateway: the libraries that it loads, as the loader finds
them here, and those that are linked into it, whose versions are those of the installed Debian packages; and what the console's page has
of others."""

import datetime
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys

# Linked into the binary: the Debian package with their code, and the license. CMakeLists.txt finds them.
LINKED_IN = {
    "libboost1.81-dev": "BSL-1.0",
    "libboost-url1.81-dev": "BSL-1.0",
    "libcli11-dev": "BSD-3-Clause",
    "libyaml-cpp-dev": "MIT",
    "nlohmann-json3-dev": "MIT",
}


# In the page, with the license: gateway/console/vendor.lock has their versions.
IN_PAGE = {"htm": "Apache-2.0", "preact": "MIT"}


def output_of(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def loaded(binary):
    """The Debian packages of the libraries that the loader finds."""
    paths = re.findall(r"(?:=> )?(/\S+) \(0x", output_of("ldd", binary))
    packages = set()
    for path in paths:
        for name in (path, os.path.realpath(path), path.removeprefix("/usr"), "/usr" + path):
            found = subprocess.run(["dpkg", "-S", name], capture_output=True, text=True, check=False)
            if found.returncode == 0:
                packages.add(found.stdout.split(":")[0])
                break
        else:
            sys.exit(f"make_sbom: no package has {path}")
    return sorted(packages)


def spdx_id(name):
    return "SPDXRef-" + re.sub(r"[^A-Za-z0-9.-]", "-", name)


def debian_package(name, license_id):
    version, architecture = output_of("dpkg-query", "-W", "-f", "${Version} ${Architecture}\n", name).splitlines()[0].split()
    url_version = version.replace("+", "%2B").replace(":", "%3A")
    return {
        "SPDXID": spdx_id(name), "name": name, "versionInfo": version, "downloadLocation": "NOASSERTION", "filesAnalyzed": False,
        "licenseConcluded": license_id, "licenseDeclared": license_id, "copyrightText": "NOASSERTION",
        "supplier": "Organization: Debian",
        "externalRefs": [{
            "referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl",
            "referenceLocator": f"pkg:deb/debian/{name.replace('+', '%2B')}@{url_version}?arch={architecture}&distro=bookworm"}],
    }


def npm_package(name, license_id):
    lock = pathlib.Path(__file__).parent.parent / "gateway/console/vendor.lock"
    found = re.search(rf"^# {name}@(\S+) sha512-", lock.read_text(), re.MULTILINE)
    if found is None:
        sys.exit(f"make_sbom: {lock} does not have {name}")
    version = found.group(1)
    return {
        "SPDXID": spdx_id("npm-" + name), "name": name, "versionInfo": version, "downloadLocation": "NOASSERTION",
        "filesAnalyzed": False, "licenseConcluded": license_id, "licenseDeclared": license_id, "copyrightText": "NOASSERTION",
        "externalRefs": [{
            "referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl", "referenceLocator": f"pkg:npm/{name}@{version}"}],
    }


def document(binary, version, commit):
    contents = pathlib.Path(binary).read_bytes()
    since = int(os.environ["SOURCE_DATE_EPOCH"])
    gateway = {
        "SPDXID": "SPDXRef-cardea", "name": "cardea", "versionInfo": version, "downloadLocation": "NOASSERTION", "filesAnalyzed": False,
        "licenseConcluded": "Apache-2.0", "licenseDeclared": "Apache-2.0", "copyrightText": "NOASSERTION",
        "sourceInfo": f"commit {commit}", "primaryPackagePurpose": "APPLICATION",
        "checksums": [{"algorithm": "SHA256", "checksumValue": hashlib.sha256(contents).hexdigest()}],
    }
    packages, relations = [gateway], [("SPDXRef-DOCUMENT", "DESCRIBES", "SPDXRef-cardea")]
    for name in loaded(binary):
        packages.append(debian_package(name, "NOASSERTION"))
        relations.append(("SPDXRef-cardea", "DYNAMIC_LINK", spdx_id(name)))
    for name, license_id in LINKED_IN.items():
        packages.append(debian_package(name, license_id))
        relations.append(("SPDXRef-cardea", "STATIC_LINK", spdx_id(name)))
    for name, license_id in IN_PAGE.items():
        packages.append(npm_package(name, license_id))
        relations.append(("SPDXRef-cardea", "CONTAINS", spdx_id("npm-" + name)))
    return {
        "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": f"cardea-{version}",
        "documentNamespace": f"https://cardea.example/spdx/{version}/{gateway['checksums'][0]['checksumValue']}",
        "creationInfo": {
            "created": datetime.datetime.fromtimestamp(since, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
            "creators": ["Tool: make_sbom.py"]},
        "packages": packages,
        "relationships": [{"spdxElementId": of, "relationshipType": how, "relatedSpdxElement": to} for of, how, to in relations],
    }


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    print(json.dumps(document(*sys.argv[1:]), indent=1))


main()
