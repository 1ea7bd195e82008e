"""The tables of this app: sets of templates and triplets, and their verification by people."""

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
from conditional.models.verification import (
    Choice,
    TemplateRuling,
    Verification,
    VerificationState,
    Verifier,
    VerifierAnswer,
)

__all__ = [
    "BASELINE_LABELS",
    "KIND_LABELS",
    "TASK_LABELS",
    "Choice",
    "PanelQuestion",
    "RetrievalTemplate",
    "TemplateRuling",
    "TemplateScore",
    "TemplateSet",
    "Triplet",
    "TripletAlignment",
    "TripletQuestion",
    "TripletScore",
    "TripletSet",
    "TripletSource",
    "Verification",
    "VerificationState",
    "Verifier",
    "VerifierAnswer",
]
