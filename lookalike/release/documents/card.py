"""README.md: the dataset card that `datasets.load_dataset` reads, and what a person reads."""

from __future__ import annotations

import json

from lookalike.agreement.grades import Scale
from lookalike.metrics.leaderboard_tables import SIMULATED
from lookalike.release.documents.citation import bibtex
from lookalike.release.documents.facts import Facts, percent, program
from lookalike.release.documents.markdown import single_line


def card(facts: Facts) -> str:
    """Return the card: YAML first, then what the release is and how to use it."""
    return f"{_front(facts)}\n{_body(facts)}"


def _front(facts: Facts) -> str:
    info = facts.info
    lines = [
        "---",
        f"pretty_name: {json.dumps(info['title'], ensure_ascii=False)}",
        f"license: {json.dumps(info['licence']['labels'].lower(), ensure_ascii=False)}",
        "task_categories:",
        "- image-feature-extraction",
        "tags:",
        "- image-retrieval",
        "- visual-similarity",
        f"size_categories:\n- {_size(facts.statistics['n_pairs'])}",
        "configs:",
    ]
    for name, path in _configs(facts).items():
        lines += [
            f"- config_name: {name}",
            *(["  default: true"] if name == "qrels" else []),
            "  data_files:",
            f"  - split: {'corpus' if name == 'images' else 'test'}",
            f"    path: {path}",
        ]
    return "\n".join([*lines, "---", ""])


def _configs(facts: Facts) -> dict[str, str]:
    """Return the file of each config: qrels first, since it is the default.

    A table without rows is none: load_dataset fails on it. MTEB takes `query` where there is one
    before `queries`, which is the table.
    """
    tables = {table.name: table.path for table in facts.tables if table.name in facts.filled}
    first = {name: tables.pop(name) for name in ("qrels",) if name in tables}
    return {**first, **facts.mteb, **tables}


def _size(n: int) -> str:
    for bound, name in ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K")):
        if n < bound:
            return name
    return "100K<n<1M" if n < 1_000_000 else "1M<n<10M"


def _grades(facts: Facts) -> str:
    """Say what the grades are, "" where there are none."""
    scale = Scale.from_json(facts.info.get("grades"))
    if scale is None:
        return ""
    words = ", ".join(f"{grade} {single_line(word)}" for grade, word in enumerate(scale.words))
    return (
        f"\nPairs are graded: {words}. From grade {scale.similar_from} on a pair counts as "
        f"similar: `trec_eval -l {scale.similar_from}` with `trec/qrels.txt`.\n"
    )


def _body(facts: Facts) -> str:
    info, counts = facts.info, facts.statistics
    labels = counts["labels"]["label"]
    n_pooled = sum(model["badge"] == "pooled" for model in facts.models)
    simulated = f"\n**{SIMULATED}**\n" if facts.is_simulated else ""
    return f"""# {facts.title}

{info["description"] or "A benchmark of visual similarity."}
{simulated}
{counts["n_queries"]:,} queries over {counts["n_images"]:,} images, judged by {facts.judges},
who gave {counts["n_votes"]:,} votes. To be judged were {counts["n_pairs"]:,} pairs that {n_pooled}
models proposed. {labels["n_decided"]:,} of them have a label, {percent(labels["share_similar"])}
of these similar.
{facts.in_part and f"{chr(10)}**{facts.in_part}**{chr(10)}"}{_grades(facts)}
## Use

```python
from datasets import load_dataset

qrels = load_dataset("path/to/this/folder", "qrels", split="test")
judgements = load_dataset("path/to/this/folder", "judgements", split="test")
```

{_mteb(facts)}`trec/qrels.txt` and `trec/runs/` are for trec_eval, pytrec_eval and ir_measures;
`vsd/annotations.json` and `vsd/metadata.json` for the code of the VSD benchmark;
`croissant.json` for mlcroissant. A pair without a label is unjudged, not different.

Check that nothing was changed, and that every number follows from the data, offline:

```sh
lookalike verify path/to/this/folder
lookalike score --release path/to/this/folder --run mine.npz
```

{program(facts)} `runs/` holds the scores of the models and states down to which rank its lists are
complete; `trec/runs/` holds the heads of these lists for other programs.

## Cite

```bibtex
{bibtex(facts)}
```

Licence of the labels: {info["licence"]["labels"]}. Images: {info["licence"]["images"]}

How it was made, and what it is not good for: datasheet.md. What changed: CHANGELOG.md.
"""


def _mteb(facts: Facts) -> str:
    if not facts.mteb:
        return ""
    return """MTEB finds corpus, queries and labels here. This task adds its rule on what is ranked:

```python
import mteb
import lookalike as lk

mteb.evaluate(mteb.get_model("MODEL"), lk.mteb_task("path/to/this/folder"))
```

"""
