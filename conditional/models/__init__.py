"""The tables of this app: sets of templates and triplets, and their verification by people."""

from conditional.models.sets import (
    KIND_LABELS,
    TASK_LABELS,
    RetrievalTemplate,
    TemplateSet,
    Triplet,
    TripletScore,
    TripletSet,
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
    "KIND_LABELS",
    "TASK_LABELS",
    "Choice",
    "RetrievalTemplate",
    "TemplateRuling",
    "TemplateSet",
    "Triplet",
    "TripletScore",
    "TripletSet",
    "Verification",
    "VerificationState",
    "Verifier",
    "VerifierAnswer",
]
