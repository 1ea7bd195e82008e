"""The documents: their command lines exist and take the options shown; they build as a site."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import redirect_stdout
from functools import cache
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import get_commands, load_command_class

from lookalike.cli.main import main
from tests.docs.texts import FENCE, documents, name_of
from tests.paths import ROOT

PROGRAM = r"manage\.py|python -m|python(?= \w+/\S+\.py)|script/|(?<!import )lookalike(?= [a-z])"
COMMAND = re.compile(rf"(?:^|[\s(])({PROGRAM})(?=[ \w])(.*)")
OPTION = re.compile(r"(?<![\w-])(--?[a-zA-Z][\w-]*)")
GROUPS = {"lookalike conditional", "lookalike learn", "lookalike rounds"}  # of commands
N_WORDS = {"script/": 1, "python -m": 3}  # that name a command; two in any other
RUNS = {  # what a script hands its options to
    "script/demo": ["manage.py", "demo"],
    "script/server": ["-m", "config.server"],
    "script/worker": ["-m", "config.worker"],
    "script/test": ["-m", "pytest"],
    "script/docs": ["-m", "mkdocs", "build"],
}


def shown_lines(document: Path) -> Iterator[str]:
    """Each line of the document's code, in blocks and in the text, continued lines as one."""
    text = document.read_text().replace("\\\n", " ")
    for block in FENCE.finditer(text):
        yield from block[0].splitlines()[1:-1]
    rest = FENCE.sub("", text)
    yield from re.findall(r"`([^`]+)`", re.sub(r"^ {4}.*$", "", rest, flags=re.MULTILINE))
    yield from re.findall(r"^ {4}(.*)$", rest, re.MULTILINE)


def commands(document: Path) -> set[tuple[tuple[str, ...], frozenset[str]]]:
    """Each command that a document shows as its words, without arguments, and its options."""
    shown = set()
    for line in shown_lines(document):
        if match := COMMAND.search(re.sub(r"\s+#.*| [|>] .*|.*\.NAME$", "", line)):
            program, rest = match[1].strip(), match[2].strip()
            words = (program + rest if program == "script/" else f"{program} {rest}").split()
            n_words = N_WORDS.get(program, 2) + (" ".join(words[:2]) in GROUPS)
            shown.add((tuple(words[:n_words]), frozenset(OPTION.findall(rest))))
    return shown


@cache
def help_of_lookalike(arguments: tuple[str, ...]) -> str:
    """What a command of the library says of its options; in this process, which is quick."""
    with redirect_stdout(StringIO()) as told, pytest.raises(SystemExit) as end:
        main([*arguments, "--help"])
    assert end.value.code == 0, arguments
    return told.getvalue()


@cache
def help_text(arguments: tuple[str, ...]) -> str:
    """What another program says of its options."""
    return subprocess.run(
        [sys.executable, *arguments, "--help"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip


def options_of(words: tuple[str, ...]) -> str:
    """A text that names the options of a command; fails if there is no such command."""
    match words:
        case ("manage.py", name):
            assert name in get_commands(), name
            app = get_commands()[name]
            command = load_command_class(app, name) if isinstance(app, str) else app
            return command.create_parser("manage.py", name).format_help()
        case ("lookalike", *rest):
            return help_of_lookalike(tuple(rest))
        case ("python", "-m", module):
            spec = importlib.util.find_spec(module)
            if spec is not None and spec.submodule_search_locations:
                spec = importlib.util.find_spec(f"{module}.__main__")
            assert spec is not None, module
            assert spec.origin is not None, module
            return Path(spec.origin).read_text()
        case ("python", path):
            return (ROOT / path).read_text()
        case (script,):
            text = (ROOT / script).read_text()
            runs = RUNS.get(script)
            return text + (help_text(tuple(runs)) if runs else "")
    raise AssertionError(words)


@pytest.mark.parametrize(
    "document", [path for path in documents() if path.name != "CHANGELOG.md"], ids=name_of
)
def test_every_command_line_names_a_command_and_options_that_it_takes(document: Path) -> None:
    for words, options in sorted(commands(document), key=str):
        text = options_of(words)
        for option in options:
            assert re.search(rf"(?<![\w-]){option}(?![\w-])", text), f"{' '.join(words)} {option}"


def test_command_lines_are_found_in_blocks_in_the_text_and_over_two_lines(tmp_path: Path) -> None:
    document = tmp_path / "shown.md"
    document.write_text(
        "Run `manage.py check` or `HTTPS=1 python manage.py migrate --plan`:\n\n"
        "```\nlookalike conditional validate a.json \\\n    --json  # says what is wrong\n```\n\n"
        "    python -m benchmarks.search --rounds 3 | less\n\n`script/demo --no-serve`\n"
    )
    assert commands(document) == {
        (("manage.py", "check"), frozenset()),
        (("manage.py", "migrate"), frozenset({"--plan"})),
        (("lookalike", "conditional", "validate"), frozenset({"--json"})),
        (("python", "-m", "benchmarks.search"), frozenset({"--rounds"})),
        (("script/demo",), frozenset({"--no-serve"})),
    }


@pytest.mark.parametrize(
    "words", [("manage.py", "fly"), ("python", "-m", "config"), ("lookalike", "fly")]
)
def test_a_command_that_does_not_exist_is_noticed(words: tuple[str, ...]) -> None:
    with pytest.raises(AssertionError):
        options_of(words)


def test_the_documents_build_as_a_site_and_hold_the_library() -> None:
    environment = {**os.environ, "DOCS_SEARCH": "false"}
    built = subprocess.run(
        ["script/docs"], cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    assert built.returncode == 0, built.stdout + built.stderr
    site = ROOT / "var/docs/site"
    assert "What is stored" in (site / "docs/architecture.html").read_text()
    assert 'id="lookalike.io.labels.read_qrels"' in (site / "docs/reference.html").read_text()
