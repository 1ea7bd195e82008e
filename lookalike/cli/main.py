"""The command `lookalike`: one door to everything that runs without the site.

A sub-command's module is imported only when that sub-command is called, so `--help` is quick and
torch is loaded by `embed`, `evaluate`, `learn` and `train` alone.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from textwrap import fill
from typing import NoReturn, Protocol, cast

from lookalike import __version__
from lookalike.cli.inputs import Inputs
from lookalike.cli.output import Report, output_options, write_report
from lookalike.core.did_you_mean import did_you_mean
from lookalike.core.errors import Refused
from lookalike.io.errors import InputError

BAD_INPUT = 2
CLOSED_PIPE = 141  # as a shell reports a program that SIGPIPE ended
INTERRUPTED = 130

COMMANDS = {
    "score": "score runs against labels",
    "compare": "compare models on a release: differences, intervals, p, letters",
    "evaluate": "embed a release's images by a model, rank and score them",
    "bias": "lay open the bias of a pool",
    "negatives": "draw random negatives into a file",
    "verify": "check a release: recompute every hash and every number",
    "diff": "say what changed from one release to another",
    "health": "how a benchmark wears from version to version",
    "aggregate": "one label per item from several votes",
    "agreement": "how much the workers behind votes agree",
    "disagreement": "which kinds of pairs divide a panel",
    "conditional": "check and score conditional similarity",
    "classes": "how well vectors tell the values of a column apart",
    "identity": "find the other photos of each product, beside similarity",
    "learn": "learn what similar means, from words",
    "train": "do what a recipe says, or go on with it",
    "table": "make a published table again from its own data",
    "vsd": "check and convert tasks of the VSD benchmark",
    "search": "find the nearest vectors of a catalog for each query",
    "embed": "turn a folder of images into vectors",
    "simulate": "make up a campaign whose truth is known",
    "plan": "what a budget of judging buys",
    "rounds": "judge a pool in part, with intervals that hold",
    "label-sensitivity": "what measures owe to the votes behind labels",
    "second-opinion": "which judged pairs another panel would change most by",
    "machine-judge": "put a machine judge on trial beside a panel",
    "next-model": "which further model would bring most similar pairs",
}
CONDITIONAL = {
    "validate": "list every defect of a file",
    "score-triplets": "score an embedding against human triplets",
    "matrix": "accuracies of embeddings on conditions, which alignment reads",
    "alignment": "match conditions with embeddings (WS-CSL criterion)",
}
LEARN = {
    "text-space": "let texts find pictures, from a catalog's own attributes",
    "notion": "turn prompts into a projection of vectors",
    "mine-captions": "triplets of images and conditions, from captions",
    "combiner": "join an image and a condition in one query, from such triplets",
    "embedding": "an embedding from classes or products, guided by words or not",
    "network": "a whole network from pictures, for pools and commands",
    "draw-conditions": "a picture of what each learnt condition looks at",
    "score-triplets": "how well notions cover triplets of several attributes",
    "score-templates": "answer templates of conditional retrieval by notions",
    "score-composed": "answer templates, CIRR or MIT-States by an image and a text together",
    "score-notions": "how well notions tell an attribute's values apart",
}
VSD = {
    "validate": "count what a task holds and list every defect",
    "convert": "a release or labels as the files of a task",
}
ROUNDS = {
    "draw": "draw the pairs to judge next",
    "estimate": "what is known, and whether to stop",
}
GROUPS = {"conditional": CONDITIONAL, "learn": LEARN, "vsd": VSD, "rounds": ROUNDS}


class Command(Protocol):
    """The module of a sub-command."""

    DESCRIPTION: str
    EXAMPLE: str

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Add its options."""

    def run(self, arguments: argparse.Namespace) -> Report:
        """Do its work."""


class Parser(argparse.ArgumentParser):
    """A parser whose errors look like every other error of the command."""

    def error(self, message: str) -> NoReturn:
        """Print the error and where help is, and exit with 2."""
        self.exit(BAD_INPUT, f"error: {message}\nSee {self.prog} --help\n")


def main(argv: Sequence[str] | None = None) -> int:
    """Run one sub-command and return the exit status.

    Returns:
        0; 1 where something was checked and found wanting; 2 for bad input or too small a memory,
        which stderr explains.
    """
    words = list(sys.argv[1:] if argv is None else argv)
    with Inputs() as inputs:
        try:
            command, parser = _command(words, inputs)
            arguments = parser.parse_args(words)
            status = write_report(command.run(arguments), arguments, inputs.shown)
            for warning in getattr(arguments, "warnings", ()):  # of options by their old names
                sys.stderr.write(f"warning: {warning}\n")
            sys.stdout.flush()
        except BrokenPipeError:
            _silence_stdout()
            return CLOSED_PIPE
        except KeyboardInterrupt:
            return INTERRUPTED
        except (InputError, Refused, OSError) as problem:
            sys.stderr.write(f"error: {inputs.shown(str(problem))}\n")
            return BAD_INPUT
        except (RuntimeError, MemoryError) as problem:
            if not _is_out_of_memory(problem):
                raise
            sys.stderr.write("error: memory: this machine's is too small for it\n")
            return BAD_INPUT
    return status


def _is_out_of_memory(problem: BaseException) -> bool:
    """Whether memory was full, numpy's or torch's; torch is not loaded to tell."""
    if isinstance(problem, MemoryError) or "torch" not in sys.modules:
        return isinstance(problem, MemoryError)
    return bool(import_module("lookalike.core.memory").is_out_of_memory(problem))


def _command(words: list[str], inputs: Inputs) -> tuple[Command, argparse.ArgumentParser]:
    """Consume the name of a sub-command; print help or an error and exit where there is none."""
    name, package, choices = "", "lookalike.cli", COMMANDS
    text = "Score models on labels, lay open pools, check releases: all without the site."
    while True:
        program = f"lookalike {name}".strip()
        word = words[0] if words else "--help"
        if word not in choices:
            _stop(program, text, choices, word)
        name, text = f"{name} {words.pop(0)}".strip(), choices[word].capitalize() + "."
        if word not in GROUPS:
            break
        package, choices = f"{package}.{word}", GROUPS[word]
    try:
        command = cast(Command, import_module(f"{package}.{word.replace('-', '_')}"))
    except ModuleNotFoundError as problem:
        extra = "pip install 'lookalike[models]'"
        raise InputError(f"lookalike {name} needs {problem.name}: {extra}") from problem
    parser = Parser(
        prog=f"lookalike {name}",
        description=fill(command.DESCRIPTION, 80),
        epilog=f"example:\n  {command.EXAMPLE}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        parents=[output_options()],
        conflict_handler="resolve",  # a command may have an --out of its own
    )
    parser.register("type", "input", inputs.path)
    command.add_options(parser)
    return command, parser


def _stop(program: str, text: str, choices: dict[str, str], word: str) -> NoReturn:
    if word == "--version":
        sys.stdout.write(f"lookalike {__version__}\n")
        raise SystemExit(0)
    if word in ("--help", "-h"):
        lines = [f"usage: {program} COMMAND ...", "", text, ""]
        lines += [f"  {name:<19}{summary}" for name, summary in choices.items()]
        sys.stdout.write("\n".join([*lines, "", f"Help on one: {program} COMMAND --help", ""]))
        raise SystemExit(0)
    hint = did_you_mean(word, list(choices))
    sys.stderr.write(f"error: {program} has no command {word!r}. {hint}\n")
    raise SystemExit(BAD_INPUT)


def _silence_stdout() -> None:
    """Let nothing more be written, also not when Python ends."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
