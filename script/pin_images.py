"""Write the digest that a registry gives for each image's tag into the files of deploy/.

A digest names one image for good, while a tag moves. Run it to take newer images under the same
tags. It asks Docker Hub, so it needs a network.
"""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path

import requests

ROOT = Path(__file__).resolve().parent.parent
FILES = (ROOT / "deploy" / "Dockerfile", ROOT / "deploy" / "compose.yaml")
IMAGE = re.compile(
    r"^(?P<start>FROM |\s*image: )(?P<name>[a-z0-9./-]+):(?P<tag>[\w.-]+)(?:@sha256:[0-9a-f]{64})?",
    re.MULTILINE,
)
KINDS = ", ".join(
    (
        "application/vnd.oci.image.index.v1+json",
        "application/vnd.docker.distribution.manifest.list.v2+json",
    )
)
SECONDS = 30


def digest_of(name: str, tag: str, auth: str, registry: str) -> str:
    """Return `sha256:…` of the index of all platforms behind a tag.

    Raises:
        requests.RequestException: the registry does not answer, or does not know the tag.
        ValueError: it answers with something else.
    """
    name = name if "/" in name else f"library/{name}"
    scope = {"service": "registry.docker.io", "scope": f"repository:{name}:pull"}
    asked = requests.get(f"{auth}/token", params=scope, timeout=SECONDS)
    asked.raise_for_status()
    answer = requests.head(
        f"{registry}/v2/{name}/manifests/{tag}",
        headers={"Authorization": f"Bearer {asked.json()['token']}", "Accept": KINDS},
        timeout=SECONDS,
    )
    answer.raise_for_status()
    digest = answer.headers.get("Docker-Content-Digest", "")
    if not re.fullmatch("sha256:[0-9a-f]{64}", digest):
        raise ValueError(f"{name}:{tag}: the registry gave no digest, but {digest!r}.")
    return digest


def main() -> int:
    """Pin the images; return the exit status. No file is written unless every digest is known."""
    parser = argparse.ArgumentParser(prog="script/pin-images", description=__doc__)
    parser.add_argument("files", nargs="*", type=Path, default=FILES, metavar="FILE")
    parser.add_argument("--auth", default="https://auth.docker.io", help=argparse.SUPPRESS)
    parser.add_argument(
        "--registry", default="https://registry-1.docker.io", help=argparse.SUPPRESS
    )
    options = parser.parse_args()

    def pinned(found: re.Match[str]) -> str:
        name, tag = found["name"], found["tag"]
        return f"{found['start']}{name}:{tag}@" + digest_of(
            name, tag, options.auth, options.registry
        )

    try:
        texts = {path: IMAGE.sub(pinned, path.read_text()) for path in options.files}
    except (requests.RequestException, ValueError, KeyError) as problem:
        sys.stderr.write(f"Nothing is pinned: {problem}\n")
        return 1
    for path, text in texts.items():
        path.write_text(text)
        for found in IMAGE.finditer(text):
            sys.stdout.write(f"{path.name}: {found[0].strip()}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
