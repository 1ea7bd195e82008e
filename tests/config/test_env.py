import pytest

from config import env


def test_a_missing_variable_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LOOKALIKE_X", raising=False)
    with pytest.raises(env.EnvError, match="LOOKALIKE_X"):
        env.text("LOOKALIKE_X")


@pytest.mark.parametrize(
    ("text", "value"), [("1", True), ("yes", True), ("0", False), ("off", False)]
)
def test_flags_read_as_people_write_them(
    monkeypatch: pytest.MonkeyPatch, text: str, value: bool
) -> None:
    monkeypatch.setenv("LOOKALIKE_X", text)
    assert env.flag("LOOKALIKE_X", not value) is value


def test_a_flag_that_is_neither_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOOKALIKE_X", "maybe")
    with pytest.raises(env.EnvError, match=r"LOOKALIKE_X.*maybe"):
        env.flag("LOOKALIKE_X", True)


def test_a_number_that_is_none_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOOKALIKE_X", "ten")
    with pytest.raises(env.EnvError, match=r"LOOKALIKE_X.*ten"):
        env.integer("LOOKALIKE_X", 3)
