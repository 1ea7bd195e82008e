"""Terms say what they mean where they first stand, and nowhere twice."""

from __future__ import annotations

import pytest
from django.template import Context, Template
from django.test import RequestFactory

from accounts.terms import TERMS
from config.settings import BASE_DIR

GLOSSARY = (BASE_DIR / "docs" / "glossary.md").read_text().lower()


def render(text: str, **given: str) -> str:
    context = Context({"request": RequestFactory().get("/"), **given})
    return Template("{% load pages %}" + text).render(context)


def test_a_term_is_explained_once_on_a_page():
    shown = render('{% term "gold" %} and {% term "gold" "known pairs" %}')
    assert shown.count(TERMS["gold"]) == 1
    assert shown.endswith(" and known pairs")
    assert 'popovertarget="term-gold"' in shown
    assert 'id="term-gold" popover' in shown


def test_other_words_are_shown_as_text_and_without_a_request_there_is_no_button():
    assert ">&lt;b&gt;</button>" in render('{% term "k of n" words %}', words="<b>")
    assert Template('{% load pages %}{% term "seed" %}').render(Context()) == "seed"


def test_a_term_that_nobody_explained_fails():
    with pytest.raises(KeyError):
        render('{% term "golden" %}')


@pytest.mark.parametrize("name", TERMS)
def test_every_term_is_in_the_glossary(name: str):
    assert name in GLOSSARY
