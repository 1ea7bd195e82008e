"""What Croissant's RAI extension asks of a data set, answered from the datasheet.

Source of the questions: Croissant RAI specification 1.0 (MLCommons, 2024).
"""

from __future__ import annotations

from typing import Any

from lookalike.release.documents.datasheet import (
    IMPACT,
    NO_FINDINGS,
    PANEL,
    UNJUDGED,
    UPKEEP,
    blind_judges,
    campaign_rules,
    excluded_use,
    intended_use,
    pool_sentences,
    stated,
)
from lookalike.release.documents.facts import (
    INTERVALS_OF_AGREEMENT,
    Facts,
    interval_words,
    number,
    percent,
)
from lookalike.release.documents.markdown import sentence, single_line


def responsible(facts: Facts) -> dict[str, Any]:
    """Return the RAI properties of a release."""
    counts, found = facts.statistics, facts.statistics["agreement"]
    panel = {title: stated(facts.info["panel"].get(name, "")) for name, title in PANEL.items()}
    uses = {name: stated(facts.info["uses"].get(name, "")) for name in IMPACT}
    days = [f"{day}T00:00:00" for day in facts.judged_days]
    properties: dict[str, Any] = {
        "dataCollection": " ".join(
            (
                sentence(facts.info["description"]) or "The curators gave no description.",
                *pool_sentences(facts),
            )
        ),
        "dataCollectionType": "Experiments" if facts.is_simulated else "Manual Human Curator",
        "dataCollectionMissingData": "A pair that nobody judged has no row; it is neither similar "
        "nor different. data/excluded.parquet lists the pairs asked that have no label.",
        # the specification writes it so, mlcroissant reads it otherwise
        "dataCollectionTimeframe": days,
        "dataCollectionTimeFrame": days,
        "dataImputationProtocol": "None: nothing is filled in.",
        "dataPreprocessingProtocol": [
            "Votes are counted by the rule of each campaign; an admin’s ruling is the label "
            "whatever the votes. data/labels.parquet has the outcome by every rule.",
        ],
        "dataAnnotationProtocol": [
            blind_judges(facts),
            *campaign_rules(facts),
            "The guidelines as shown to the judges are in guidelines/.",
        ],
        "dataAnnotationPlatform": [f"Lookalike {facts.info['code']['version']}"],
        "dataAnnotationAnalysis": [
            f"Pairs with at least two votes: {found['n_pairs_with_two_votes']:,}. "
            f"Percent agreement {percent(found['percent'])}{interval_words(found, 'percent')}, "
            f"Krippendorff’s α {number(found['krippendorff_alpha'])}"
            f"{interval_words(found, 'krippendorff_alpha')}, "
            f"Gwet’s AC1 {number(found['gwet_ac1'])}{interval_words(found, 'gwet_ac1')}, "
            f"Fleiss’ κ {number(found['fleiss_kappa'])}{interval_words(found, 'fleiss_kappa')}; "
            "share of similar among all votes "
            f"{percent(found['prevalence_of_similar_votes'])}."
            f"{' ' + INTERVALS_OF_AGREEMENT if 'intervals' in found else ''}",
        ],
        "annotationsPerItem": f"{counts['n_votes']:,} votes in all; {counts['n_pairs']:,} pairs "
        "were to be judged.",
        "annotatorDemographics": [
            f"Judges: {counts['n_judges']}.",
            *(f"{title}: {text}." for title, text in panel.items()),
        ],
        "machineAnnotationTools": [
            f"{single_line(model['name'])} proposed pairs and gave no labels"
            for model in facts.models
            if model["badge"] == "pooled"
        ],
        "dataBiases": [*(map(single_line, facts.findings) if facts.findings else [NO_FINDINGS])],
        "dataLimitations": [UNJUDGED, f"Not intended: {excluded_use(facts)}."],
        "dataUseCases": [f"Intended: {intended_use(facts)}."],
        "dataSocialImpact": f"{uses['social_impact']}.",
        "personalSensitiveInformation": [
            f"What the images show of people: {uses['personal_information']}.",
            "Judges are named a01, a02 … in an order that only this release has; times are "
            "rounded down to the hour.",
        ],
        "dataReleaseMaintenancePlan": UPKEEP,
    }
    return {f"rai:{name}": value for name, value in properties.items() if value}
