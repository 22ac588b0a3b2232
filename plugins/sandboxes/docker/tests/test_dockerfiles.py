"""Dockerfiles are read for the images that they take, and refused where builders could read them in two ways."""

from __future__ import annotations

import pytest

from skillgauge_sandbox_docker.dockerfiles import read_dockerfile

HONEST = """# a comment with from and --from=x
FROM python:3.12-slim AS build
ARG VERSION=1
WORKDIR /app
COPY requirements.txt /app/
RUN python3 -m venv /venv && \\
    # comments at the margin only
    true
FROM python:3.12-slim
ENV PATH=/venv/bin:$PATH
COPY --from=build --chown=0:0 /venv /venv
COPY --from=0 /app /app
RUN test $((400 << 20)) -gt 1; cat <<<word || :
CMD ["sh"]
"""


def test_honest_files_are_read() -> None:
    """Stages and their numbers are no images, and each image is named once, with its first line."""
    text = HONEST.replace("    # comments at the margin only\n", "# comments at the margin\n\n")
    reading = read_dockerfile(text)
    assert reading.refusals_for(["python:3.12-slim"]) == []
    assert reading.images == {"python:3.12-slim": 2}
    assert read_dockerfile(text.replace("\n", "\r\n")).refusals == []
    assert read_dockerfile("FROM scratch\nCOPY a /a\n").images == {}


@pytest.mark.parametrize(
    "line",
    [
        "COPY --from=other /a /a",
        "copy --chown=0 --from=other /a /a",
        "COPY --from=1 /a /a",
        "COPY --fr\\om=other /a /a",
        "COPY --from=$OTHER /a /a",
        "COPY \\\n\n# a\n--from=other /a /a",
        "CO\\\nPY --from=other /a /a",
        "COPY --from=second /a /a\nFROM base AS second",
        "FROM other",
        "FROM ${OTHER}",
        "FROM --platform=linux/amd64 base",
        'FROM base AS "other"',
        "FROM base other",
        "RUN --mount=type=bind,from=other,target=/a true",
        "RUN --network=host true",
        "RUN --security=insecure true",
        "RUN <<END\nCOPY --from=other /a /a\nEND",
        "RUN true \\\\\nCOPY --from=other /a /a",
        "RUN true \\\n   # a\nCOPY --from=other /a /a",
        "ADD https://example.com/a /a",
        "ADD a /a",
        "ONBUILD COPY --from=other /a /a",
        "# syntax=someone/reader:1",
        "#syntax = someone/reader:1",
        "# escape=`",
        "// syntax=someone/reader:1",
        '{"syntax": "someone/reader:1"}',
        "COPY\u00a0--from=other /a /a",
        "RUN true\rCOPY --from=other /a /a",
        "INCLUDE other",
    ],
)
def test_what_a_strangers_file_may_not_say(line: str) -> None:
    """Another image in any spelling, a file from elsewhere, another reader, and what only some builders know."""
    assert read_dockerfile(f"FROM base\n{line}\n").refusals_for(["base"])
    assert read_dockerfile(f"{line}\nFROM base\n").refusals_for(["base"])


def test_places_of_refusals() -> None:
    """Each is told with the line on which its instruction begins, in the order of the file."""
    refusals = read_dockerfile("FROM base\nRUN a \\\n  b\nADD x /x\nCOPY \\\n  --from=o /a /a\nFROM p\n").refusals_for(
        ["base"]
    )
    assert [refusal.line for refusal in refusals] == [4, 5, 7]
    assert [refusal.is_image for refusal in refusals] == [False, True, True]
