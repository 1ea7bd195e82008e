"""`--vectors FILE` and `--ids FILE`, alike in every command that reads vectors."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from lookalike.io.errors import InputError
from lookalike.io.vector_arrays import NPY
from lookalike.io.vectors import VectorTable, read_vectors

FORMATS = ".npz, parquet, safetensors, JSON lines, or .npy with --ids"
GOES = "the next version does not know it"


def add_vectors(
    parser: argparse.ArgumentParser,
    text: str = "vectors of the images",
    *,
    is_repeatable: bool = False,
    old_option: str = "",
    old_ids: str = "",
    had_argument: bool = False,
) -> None:
    """Add the options, and hidden forms that the command had before.

    Args:
        parser: of the command.
        text: what the vectors are of.
        is_repeatable: whether there may be several files; only for the help.
        old_option: another name of the option.
        old_ids: another name of `--ids`.
        had_argument: whether the files were positional arguments.
    """
    once = "; once for each model" if is_repeatable else ""
    common: dict[str, Any] = {"dest": "vectors", "type": "input", "action": _Collected}
    common["default"] = []
    parser.add_argument("--vectors", metavar="FILE", help=f"{text}: {FORMATS}{once}", **common)
    if old_option:
        parser.add_argument(old_option, help=argparse.SUPPRESS, **common)
    if had_argument:
        parser.add_argument(
            "old_vectors", type="input", nargs="*", action=_Collected, help=argparse.SUPPRESS
        )
    add_ids(parser, old_ids)


def add_ids(parser: argparse.ArgumentParser, old: str = "") -> None:
    """Add the option for the ids of .npy files."""
    common: dict[str, Any] = {"dest": "ids", "type": "input", "action": _Collected, "default": []}
    help_text = "ids of the rows of a .npy, one a line; once for each .npy, in their order"
    parser.add_argument("--ids", metavar="FILE", help=help_text, **common)
    if old:
        parser.add_argument(old, help=argparse.SUPPRESS, **common)


class _Collected(argparse.Action):
    """Collects files, and a warning where an old form names them."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: Any,
        option_string: str | None = None,
    ) -> None:
        files: list[Path] = [*values] if isinstance(values, list) else [values]
        dest = self.dest.removeprefix("old_")
        if files and option_string != f"--{dest}":
            old = option_string or f"the argument {files[0].name}"
            namespace.warnings = [
                *getattr(namespace, "warnings", ()),
                f"write --{dest} in place of {old}; {GOES}",
            ]
        setattr(namespace, dest, [*getattr(namespace, dest), *files])


def ids_by_file(arguments: argparse.Namespace, files: Sequence[Path]) -> dict[Path, Path]:
    """Return the file of ids of each .npy.

    Args:
        arguments: with `ids`.
        files: among them those of vectors.

    Raises:
        InputError: there are not as many files of ids as of .npy.
        OSError: a file cannot be opened.
    """
    nameless = [file for file in dict.fromkeys(files) if _is_npy(file)]
    if not arguments.ids:
        return {}  # each reader says which of its files needs them
    if len(arguments.ids) != len(nameless):
        raise InputError(
            f"--ids is given {len(arguments.ids)} times for {len(nameless)} .npy files"
        )
    return dict(zip(nameless, arguments.ids, strict=True))


def read_every(arguments: argparse.Namespace) -> list[tuple[Path, VectorTable]]:
    """Return the vectors of each file.

    Raises:
        InputError: no file, or one that cannot be used.
        OSError: a file cannot be opened.
    """
    if not arguments.vectors:
        raise InputError("name the vectors: --vectors FILE")
    ids_of = ids_by_file(arguments, arguments.vectors)
    return [(path, read_vectors(path, ids_of.get(path))) for path in arguments.vectors]


def read_one(arguments: argparse.Namespace) -> tuple[Path, VectorTable]:
    """Return the vectors of the only file.

    Raises:
        InputError: no file, several, or one that cannot be used.
        OSError: the file cannot be opened.
    """
    if len(arguments.vectors) > 1:
        raise InputError(f"--vectors is given twice: {arguments.vectors[1]}")
    [one] = read_every(arguments)
    return one


def _is_npy(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(len(NPY)) == NPY
