"""The tables of this app: sets of templates and triplets, and the campaigns about them."""

from conditional.models.campaigns import SetCampaign
from conditional.models.sets import (
    BASELINE_LABELS,
    KIND_LABELS,
    TASK_LABELS,
    PanelQuestion,
    RetrievalTemplate,
    TemplateScore,
    TemplateSet,
)
from conditional.models.triplets import (
    Triplet,
    TripletAlignment,
    TripletQuestion,
    TripletScore,
    TripletSet,
    TripletSource,
)

__all__ = [
    "BASELINE_LABELS",
    "KIND_LABELS",
    "TASK_LABELS",
    "PanelQuestion",
    "RetrievalTemplate",
    "SetCampaign",
    "TemplateScore",
    "TemplateSet",
    "Triplet",
    "TripletAlignment",
    "TripletQuestion",
    "TripletScore",
    "TripletSet",
    "TripletSource",
]
