"""Secrets do not survive redaction, in whatever shape they appear, and nothing else changes."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable
from typing import Any
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillgauge.contract.sandboxes import Finished
from skillgauge_documents import freeze
from skillgauge_documents.frozen import Frozen, FrozenDict, Json
from skillgauge_documents.redaction import MIN_LENGTH, Redactor

SECRET = 'sk-Zoë/+"%&=?\\1\n'
MARK = "[redacted:KEY]"


class Value(Frozen):
    """A value as the pipeline has them."""

    text: str = ""
    data: Json = None
    inner: tuple[Value, ...] = ()


def redactor(**secrets: str) -> Redactor:
    """One that knows these secrets."""
    result = Redactor()
    for name, value in (secrets or {"KEY": SECRET}).items():
        result.register(name, value)
    return result


@pytest.mark.parametrize(
    "spelt",
    [
        SECRET,
        quote(SECRET),
        quote(SECRET, safe=""),
        quote_plus(SECRET),
        re.sub("%..", lambda match: match.group().lower(), quote(SECRET, safe="")),
        json.dumps(SECRET)[1:-1],
        json.dumps(SECRET, ensure_ascii=False)[1:-1],
    ],
    ids=["plain", "path", "query", "form", "lower-case", "json-ascii", "json"],
)
def test_every_spelling_is_found(spelt: str) -> None:
    """A secret is replaced in text and bytes, wherever it stands and however it is escaped."""
    for template in ("{}", "before {} after", "x{}{}y"):
        text = template.replace("{}", spelt)
        expected = template.replace("{}", MARK)
        assert redactor().redact(text) == expected
        assert redactor().redact(text.encode()) == expected.encode()


@pytest.mark.parametrize("encode", [quote, quote_plus])
def test_a_blank_in_a_query_is_found(encode: Callable[[str], str]) -> None:
    """Written as %20 or as +."""
    assert redactor(KEY="correct horse battery").redact(encode("correct horse battery")) == MARK


def test_letters_beyond_ascii_are_found_in_content() -> None:
    """Also where no edge of a spelling is the same in characters as it is in bytes."""
    assert redactor(KEY="éclair-0123456789-zoë").redact("ëoz-9876543210-rialcé".encode()) == MARK.encode()


@given(st.text(min_size=MIN_LENGTH, max_size=40), st.binary(max_size=9), st.binary(max_size=9))
def test_base64_is_found_at_any_offset(secret: str, before: bytes, after: bytes) -> None:
    """A secret in the middle of something that was encoded in base64 is replaced, but for its outermost letters."""
    try:
        code = secret.encode()
    except UnicodeEncodeError:
        return
    for encode in (base64.b64encode, base64.urlsafe_b64encode):
        text = encode(before + code + after).decode()
        redacted = redactor(KEY=secret).redact(text)
        assert MARK in redacted
        assert len(redacted) - len(MARK) <= (len(before) + len(after)) * 4 / 3 + 8


@given(st.text(min_size=MIN_LENGTH), st.text(), st.text())
def test_no_secret_survives(secret: str, before: str, after: str) -> None:
    """Whatever the secret and the text around it, it is not in the result."""
    redacted = redactor(KEY=secret).redact(before + secret + after)
    assert secret not in redacted.replace(MARK, "\0")


def test_values_are_redacted_in_depth() -> None:
    """Models, dataclasses and JSON are copied where they hold a secret, keys included, and keep their types."""
    value = Value(
        text=f"a {SECRET}",
        data=freeze({"list": [1, SECRET, None], SECRET: True}),
        inner=(Value(text="clean"), Value(text=SECRET)),
    )
    redacted = redactor().redact(value)
    assert redacted == Value(
        text=f"a {MARK}",
        data=freeze({"list": [1, MARK, None], MARK: True}),
        inner=(Value(text="clean"), Value(text=MARK)),
    )
    assert isinstance(redacted.data, FrozenDict)
    assert redacted.inner[0] is value.inner[0]
    finished = Finished(exit_code=0, signal=None, stdout=SECRET.encode(), stderr=b"", duration_s=1.0)
    assert redactor().redact(finished).stdout == MARK.encode()
    assert redactor().redact(bytearray(SECRET.encode())) == bytearray(MARK.encode())
    assert redactor().redact([SECRET, {"k": (SECRET,)}]) == [MARK, {"k": (MARK,)}]
    assert value.text == f"a {SECRET}"


@pytest.mark.parametrize(
    "value",
    [
        "text",
        b"\xff",
        1,
        1.5,
        None,
        Value(text="x", data=freeze({"a": [1, "b"]})),
        [1, ("a", {"b": "c"})],
        Value,
        bytearray(b"x"),
    ],
    ids=str,
)
def test_what_holds_no_secret_is_the_same_object(value: Any) -> None:
    """Nothing is copied when there is nothing to hide, be a secret registered or not."""
    assert redactor().redact(value) is value
    assert Redactor().redact(value) is value


def test_a_secret_that_is_registered_later_is_found() -> None:
    """Also in a text in which there was nothing before."""
    redactor = Redactor()
    redactor.register("KEY", "hunter2-hunter2")
    text = "a name that results share, swordfish"
    assert redactor.redact(text) is text
    redactor.register("FISH", "swordfish")
    assert redactor.redact(text) == "a name that results share, [redacted:FISH]"


@given(
    st.sampled_from(
        [
            lambda secret: secret,
            lambda secret: secret[::-1],
            lambda secret: base64.b64encode(secret.encode()).decode(),
            lambda secret: "\n".join(secret.encode().hex()),
            lambda secret: "\\n".join(secret.encode().hex()),
            lambda secret: "".join(f"%{unit:02x}" for unit in secret.encode()),
            lambda secret: "".join(f"&#{ord(letter)};" for letter in secret),
            lambda secret: json.dumps(secret),
            lambda secret: "." * 70 + secret[:9],
            lambda secret: secret[-9:] + "." * 70,
            lambda secret: secret[:5],
        ]
    ),
    st.lists(st.text(max_size=80), max_size=4),
    st.lists(st.text(max_size=80), max_size=4),
)
def test_texts_of_a_value_are_redacted_as_they_are_one_by_one(
    spell: Callable[[str], str], before: list[str], after: list[str]
) -> None:
    """A value is searched as a whole first, and what is found in one of its texts does not depend on the others."""
    texts = [*before, spell('é"sk-0123456789-Zë'), *after]
    one = redactor(KEY='é"sk-0123456789-Zë')
    assert one.redact(texts) == [one.redact(text) for text in texts]
    assert one.redact({"content": [text.encode("utf-8", "surrogatepass") for text in texts]}) == {
        "content": [one.redact(text.encode("utf-8", "surrogatepass")) for text in texts]
    }


def test_secrets_may_contain_each_other() -> None:
    """Of two secrets that overlap the longer one is replaced."""
    both = redactor(SHORT="password", LONG="password-1")
    assert both.redact("password-1 password") == "[redacted:LONG] [redacted:SHORT]"


def test_secret_that_is_no_unicode() -> None:
    """A secret with bytes that are no UTF-8, as an environment can hold, is found in bytes and in text."""
    secret = b"\xff-secret\xfe".decode(errors="surrogateescape")
    assert redactor(KEY=secret).redact(b"a \xff-secret\xfe b") == f"a {MARK} b".encode()
    assert redactor(KEY=secret).redact(f"a {secret} b") == f"a {MARK} b"


def test_short_secrets_are_refused() -> None:
    """A value too short to be told from ordinary text is refused by name, and its text is not in the message."""
    with pytest.raises(ValueError, match="value of KEY has fewer than 6") as caught:
        Redactor().register("KEY", "qzqzq")
    assert "qzqzq" not in str(caught.value)


def test_texts_of_a_credential_file() -> None:
    """The long ones are secrets, however deep; the short ones, and a file that is no JSON, are not."""
    one = Redactor()
    tokens = {"type": "oauth", "tokens": [{"access": "access-token-0123456789"}, ["refresh-token-0123456789", 2]]}
    one.register_document("login.json", json.dumps(tokens).encode())
    for broken in (b"access-token", b"\xff", b"[" * 100_000):
        one.register_document("broken", broken)
    assert one.values == {"login.json-0": "access-token-0123456789", "login.json-1": "refresh-token-0123456789"}
    assert one.redact("oauth access-token-0123456789") == "oauth [redacted:login.json-0]"
    one.register_document("login.json", b'["token-of-another-0123456789"]')
    assert one.values["login.json-0+"] == "token-of-another-0123456789"
    assert len(one.values) == 3


def test_a_text_of_a_credential_file_is_a_secret_from_16_characters_on() -> None:
    """Names and kinds are shorter, and would garble results."""
    one = Redactor()
    one.register_document("login.json", json.dumps(["x" * 15, "y" * 16]).encode())
    assert list(one.values.values()) == ["y" * 16]


@given(before=st.binary(), after=st.binary())
def test_masked_content_keeps_its_length(before: bytes, after: bytes) -> None:
    """Every byte that is none of a secret stays where it is."""
    secret = b"sk-canary-0123456789"
    masked = redactor(KEY=secret.decode()).masked(before + secret + after)
    assert masked == before + b"*" * len(secret) + after


@given(st.text(alphabet=st.characters(min_codepoint=33, max_codepoint=126), min_size=20, max_size=120), st.data())
def test_broken_and_encoded_secrets_are_found(secret: str, data: st.DataObject) -> None:
    """T-S10: in base64, base32 and hex, at any offset, broken into lines of any length, as text and in JSON."""
    before = data.draw(st.binary(max_size=5))
    encode = data.draw(st.sampled_from([base64.b64encode, base64.b32encode, lambda code: code.hex().encode()]))
    width = data.draw(st.integers(2, 100))
    newline = data.draw(st.sampled_from(["\n", "\r\n", "\\n", " "]))
    text = encode(before + secret.encode()).decode()
    lines = newline.join(text[at : at + width] for at in range(0, len(text), width))
    redacted = redactor(KEY=secret).redact(f"x\n{lines}\ny")
    assert MARK in redacted
    assert len(redacted) - len(MARK) <= len(before) * 2 + 24 + len(newline) * 24


@given(st.text(min_size=MIN_LENGTH, max_size=60), st.data())
def test_escapes_in_any_mixture_are_read(secret: str, data: st.DataObject) -> None:
    """Each letter as it is, or as URLs, JSON and HTML may spell it: the value is not there once they are read."""
    spelt = []
    for letter in secret:
        if "\ud800" <= letter <= "\udfff":
            return
        units = letter.encode("utf-16-be").hex()
        ways = [
            "".join(f"%{unit:02X}" for unit in letter.encode()),
            "".join(f"\\u{units[at : at + 4]}" for at in range(0, len(units), 4)),
            f"&#x{ord(letter):X};",
            f"&#{ord(letter)};",
        ]
        spelt.append(data.draw(st.sampled_from([*ways, letter] if letter.isascii() and letter.isalnum() else ways[1:])))
    redacted = redactor(KEY=secret).redact("".join(spelt))
    assert MARK in redacted


def test_a_sign_in_two_cases_is_read() -> None:
    """Letters in circles are no letters to Python, and have a small and a large form all the same."""
    for text in ("\\Ⓐ", "sesame\\ⓐopen-12345", "sesame\\Ⓐopen\\-12345"):
        assert redactor(KEY="sesameⒶopen-12345").redact(text) == (text if len(text) == 2 else MARK)


def test_what_is_left_of_a_cut_secret_is_found() -> None:
    """T-S9: at the beginning and at the end of a text, if enough of it is left and the text is no short one."""
    secret = "sk-0123456789-abcdefghij"
    rest = "x" * 100
    assert redactor(KEY=secret).redact(f"{rest}{secret[:-1]}") == f"{rest}{MARK}"
    assert redactor(KEY=secret).redact(f"{secret[1:]}{rest}") == f"{MARK}{rest}"
    assert redactor(KEY=secret).redact(f"{rest}{secret[:8]}") == f"{rest}{MARK}"
    assert redactor(KEY=secret).redact(f"{rest}{secret[:5]}") == f"{rest}{secret[:5]}"
    assert redactor(KEY=secret).redact(f"{secret[:-1]}{rest}") == f"{secret[:-1]}{rest}"


def test_a_value_has_one_name() -> None:
    """The first under which it is known, and so have its spellings."""
    one = redactor(A="sk-0123456789", B="sk-0123456789", C="9876543210-ks")
    assert one.redact("sk-0123456789 9876543210-ks") == "[redacted:A] [redacted:A]"
    assert set(one.values) == {"A", "C"}
