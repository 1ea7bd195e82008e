"""The datasheet of a release, in Markdown and as a page that prints.

Source of the questions: Gebru et al., Datasheets for Datasets (CACM 2021).
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from html import escape
from typing import Any

from markdown_it import MarkdownIt

from lookalike.agreement.grades import Scale
from lookalike.release.documents.conditional import conditional_part
from lookalike.release.documents.facts import (
    INTERVALS_OF_AGREEMENT,
    Facts,
    interval_words,
    number,
    percent,
    program,
)
from lookalike.release.documents.markdown import sentence, single_line, table
from lookalike.release.documents.people import authors_of
from lookalike.release.format.layout import FIRST_WITH_BOARD

_STYLE = """
body { font: 1rem/1.55 system-ui, sans-serif; max-width: 46rem; margin: 2rem auto; padding: 0 1rem }
h1 { line-height: 1.2 }
h2 { margin-top: 2.2rem; border-bottom: 1px solid currentColor }
table { border-collapse: collapse; width: 100%; margin: 1rem 0; font-size: .92rem }
th, td { text-align: left; padding: .3rem .6rem; border-bottom: 1px solid rgb(128 128 128 / 40%) }
td { font-variant-numeric: tabular-nums; overflow-wrap: anywhere }
blockquote { margin: 1rem 0; padding: .1rem 1rem; border-left: 3px solid rgb(128 128 128 / 60%) }
@page { size: A4; margin: 18mm }
@media print {
  body { font-size: 10pt; max-width: none; margin: 0 }
  h2 { break-after: avoid }
  tr { break-inside: avoid }
}
"""
_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
{body}</body>
</html>
"""


PANEL = {
    "expertise": "Expertise",
    "demographics": "Demographics",
    "payment": "Payment and consent",
}
IMPACT = {
    "social_impact": "Social impact",
    "personal_information": "What the images show of people",
}
NO_FINDINGS = "No report on the pool’s bias was made before this release."
UNJUDGED = (
    "Pairs that no model of the pool proposed are unjudged. Treating them as different "
    "punishes models that find what the pool missed (strata.json says how much was judged)."
)
UPKEEP = (
    "A release is never changed: a correction is a new version with its differences in "
    "CHANGELOG.md. `lookalike verify` checks every hash and every number offline."
)


def datasheet_page(facts: Facts) -> str:
    """Return the datasheet as a page without scripts or outside resources."""
    title = escape(f"Datasheet of {facts.title}")
    return _PAGE.format(title=title, style=_STYLE, body=datasheet_html(facts))


def datasheet_html(facts: Facts) -> str:
    """Return the body of the page; raw HTML in what people wrote stays text."""
    return str(MarkdownIt("commonmark", {"html": False}).enable("table").render(datasheet(facts)))


def datasheet(facts: Facts) -> str:
    """Return the datasheet in Markdown."""
    parts = (
        _head, _motivation, _composition, _proposers, _judging, _agreement, conditional_part,
        _biases, _uses, _upkeep
    )  # fmt: skip
    return "\n\n".join(block for part in parts for block in part(facts)).rstrip() + "\n"


def _head(facts: Facts) -> Iterator[str]:
    yield f"# Datasheet of {single_line(facts.title)}"
    if facts.is_simulated:
        yield (
            "> **The judgements are simulated.** Programs with stated error rates gave them, not "
            "experts. Labels and scores show how the software works, not how good a model is."
        )


def _motivation(facts: Facts) -> Iterator[str]:
    yield "## Motivation"
    yield sentence(facts.info["description"]) or "The curators gave no description."
    authors = single_line(", ".join(author.name for author in authors_of(facts.info)))
    yield f"Made by {authors}; released on {facts.info['date']}."


def _composition(facts: Facts) -> Iterator[str]:
    counts, terms = facts.statistics, facts.info["licence"]
    yield "## Composition"
    yield table(
        ("", "Number"),
        [
            ("Images", f"{counts['n_images']:,}"),
            ("Products", f"{counts['n_products']:,}"),
            ("Queries", f"{counts['n_queries']:,}"),
            ("of these with hidden labels", f"{counts['n_hidden_queries']:,}"),
            ("Pairs put to the judges", f"{counts['n_pairs']:,}"),
            ("Judgements", f"{counts['n_judgements']:,}"),
            ("Votes that count", f"{counts['n_votes']:,}"),
            ("Pairs with a tied vote", f"{counts['n_tied']:,}"),
            ("Rulings of an admin", f"{counts['n_rulings']:,}"),
        ],
    )
    yield table(
        ("Rule", "Similar", "Different", "Share similar"),
        [
            (
                "the release’s own" if rule == "label" else rule.replace("_", "-"),
                f"{found['n_similar']:,}",
                f"{found['n_different']:,}",
                percent(found["share_similar"]),
            )
            for rule, found in counts["labels"].items()
        ],
    )
    yield from grade_sentences(facts)
    left_out = ", ".join(f"{reason} {n:,}" for reason, n in counts["n_excluded"].items())
    yield f"Pairs without a label or not compared (data/excluded.parquet): {left_out or 'none'}."
    held = "are part of the release" if terms["with_images"] else "are not part of the release"
    yield f"Labels: {single_line(terms['labels'])}. The images {held}: {sentence(terms['images'])}"


def _proposers(facts: Facts) -> Iterator[str]:
    yield "## Who proposed the pairs"
    yield from pool_sentences(facts)
    if facts.in_part:
        yield facts.in_part
    measures = facts.results["measures"]
    shown = [
        name
        for name in ("vsd_hr@5", "Success@5", "P@5", "AP'", "macro_roc_auc")
        if name in measures
    ]
    of = {model["id"]: model["measures"] for model in facts.results["models"]}
    names_families = facts.info.get("schema_version", 1) >= FIRST_WITH_BOARD
    yield table(
        ("Model", *(("Family",) if names_families else ()), "Part in the pool", *shown),
        [
            (
                single_line(model["name"]),
                *((single_line(model["family"]),) if names_families else ()),
                model["badge"],
                *(_value(of, model, name) for name in shown),
            )
            for model in facts.models
        ],
    )


def pool_sentences(facts: Facts) -> Iterator[str]:
    """Say of each pool how it was made."""
    for pool in facts.info["pools"]:
        rule = "no candidates" if pool["exclude_same_product"] else "candidates too"
        yield (
            f"Pool “{single_line(pool['name'])}”: the union of the {pool['k']} nearest candidates "
            f"of each model for {pool['n_queries']:,} queries ({_rule(pool['query_rule'])}; seed "
            f"{pool['seed']}). "
            f"Other images of a query’s product are {rule}."
            + (f" Candidates: {_rule(pool['candidate_rule'])}." if "candidate_rule" in pool else "")
        )


def _judging(facts: Facts) -> Iterator[str]:
    yield "## Who judged, and how"
    yield blind_judges(facts)
    for name, title in PANEL.items():
        yield f"{title}: {stated(facts.info['panel'].get(name, ''))}."
    yield "\n".join(f"- {rule}" for rule in campaign_rules(facts))
    yield table(
        ("Judge", "Votes", "Share similar"),
        [
            (
                name,
                f"{of['n_votes']:,}",
                percent(of["n_similar"] / of["n_votes"] if of["n_votes"] else None),
            )
            for name, of in facts.statistics["votes_by_judge"].items()
        ],
    )
    shown = [
        f"- {single_line(one['campaign'])}, version {one['version']}, of {one['date']}"
        for one in facts.guidelines
    ]
    yield "\n".join(["Guidelines as shown (guidelines/):", "", *shown])


def blind_judges(facts: Facts) -> str:
    """Say who judged without naming anybody."""
    return (
        f"{facts.judges[0].upper()}{facts.judges[1:]}, each blind to models, ranks and the answers "
        "of others. Their names here are made for this release alone."
    )


def grade_sentences(facts: Facts) -> Iterator[str]:
    """Say which grades there are and what follows from them; nothing where there are none."""
    scale = Scale.from_json(facts.info.get("grades"))
    if scale is None:
        return
    counts = facts.statistics["grades"]
    yield (
        "Judges graded the pairs. A pair has the median of its grades, the lower one of two; from "
        f"grade {scale.similar_from} on it counts as similar. nDCG takes the grades as gains, "
        "linearly; all other measures know similar and different alone."
    )
    yield table(
        ("Grade", "Pairs", "Share of votes"),
        [
            (f"{grade} {single_line(word)}", f"{n:,}", percent(share))
            for grade, (word, n, share) in enumerate(
                zip(scale.words, counts["n_labels"], counts["share_of_votes"], strict=True)
            )
        ],
    )
    yield (
        f"Of the grades Krippendorff’s ordinal alpha is "
        f"{number(counts['krippendorff_alpha_ordinal'])}; two judges gave the same grade to "
        f"{percent(counts['same_grade'])} and grades at most one apart to "
        f"{percent(counts['within_one_grade'])}. The figures of agreement below are of similar "
        "and different, as are the labels by other rules, Dawid-Skene among them."
    )


def stated(text: str) -> str:
    """Return what the curators said as one line, or that they did not."""
    return single_line(text) or "not stated by the curators"


def campaign_rules(facts: Facts) -> Iterator[str]:
    """Say of each campaign who judged what, and what a tie is."""
    for campaign in facts.info["campaigns"]:
        served = (
            "every judge was asked every pair"
            if campaign["serving"] == "everyone"
            else f"each pair was asked of {campaign['k']} of the panel"
        )
        tie = "different" if campaign["tie_rule"] == "negative" else "left undecided"
        order = (
            "; pairs that several models ranked high came first, in phases shuffled for each "
            "judge, so that similar pairs became rarer as the judging went on"
            if campaign.get("asking_order") == "phases"
            else ""
        )
        notion = campaign.get("notion")
        meant = f"asked what is similar in {single_line(notion['name'])}; " if notion else ""
        yield f"{single_line(campaign['name'])}: {meant}{served}; a tie is {tie}{order}."
        if notion and notion["prompts"]:
            said = "; ".join(single_line(prompt) for prompt in notion["prompts"])
            yield f"The notion {single_line(notion['model'])} of it was fitted to: {said}."


def _agreement(facts: Facts) -> Iterator[str]:
    found = facts.statistics["agreement"]
    yield "## Agreement"
    yield table(
        ("Figure", "Value"),
        [
            ("Pairs with at least two votes", f"{found['n_pairs_with_two_votes']:,}"),
            ("Share of similar among all votes", percent(found["prevalence_of_similar_votes"])),
            *(
                (title, f"{shown(found[key])}{interval_words(found, key)}")
                for title, key, shown in (
                    ("Percent agreement", "percent", percent),
                    ("Krippendorff’s α", "krippendorff_alpha", number),
                    ("Gwet’s AC1", "gwet_ac1", number),
                    ("Fleiss’ κ", "fleiss_kappa", number),
                )
            ),
        ],
    )
    if "intervals" in found:
        yield INTERVALS_OF_AGREEMENT
    yield (
        "α and κ fall when one answer is rare, however well judges agree; read them beside the "
        "share of similar and AC1."
    )


def _biases(facts: Facts) -> Iterator[str]:
    yield "## Known biases"
    findings = "\n".join(f"- {single_line(finding)}" for finding in facts.findings)
    yield findings or NO_FINDINGS
    yield UNJUDGED


def _uses(facts: Facts) -> Iterator[str]:
    yield "## Uses"
    yield f"Intended: {intended_use(facts)}."
    yield f"Not intended: {excluded_use(facts)}."
    for name, title in IMPACT.items():
        yield f"{title}: {stated(facts.info['uses'].get(name, ''))}."


def intended_use(facts: Facts) -> str:
    """Say what the release is for."""
    known = single_line(facts.info["uses"]["intended"])
    return known or "comparing models of visual similarity on these queries"


def excluded_use(facts: Facts) -> str:
    """Say what the release is not for."""
    return single_line(facts.info["uses"]["excluded"]) or (
        "training on the labels and testing on them; statements on images unlike these; "
        "identifying judges"
    )


def _upkeep(facts: Facts) -> Iterator[str]:
    yield "## Upkeep"
    yield f"{UPKEEP} {program(facts)}"
    yield f"Computed by Lookalike {facts.info['code']['version']}."


def _rule(rule: dict[str, Any]) -> str:
    """Say how queries were chosen, from the pool's own words."""
    given = ", ".join(f"{name} {json.dumps(value)}" for name, value in rule.items() if value)
    return single_line(given) or "all images"


def _value(of: dict[str, Any], model: dict[str, Any], measure: str) -> str:
    """Return a measure of a model, a dash for one that only proposed pairs."""
    measures = of.get(model["id"])
    return number(measures[measure]["value"] if measures else None)
