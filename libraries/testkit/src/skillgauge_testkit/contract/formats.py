"""The contract of suite formats: recognise, read, refuse with places, and write again."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from pydantic import BaseModel

from skillgauge.api import (
    EMPTY,
    Case,
    Claim,
    Dumped,
    JsonObject,
    Loaded,
    LoadRequest,
    Origin,
    Problem,
    Suite,
    SuiteError,
    SuiteFormat,
    SuiteHead,
    TargetHead,
    digest,
    locate,
    located_all,
    read_document,
)
from skillgauge.api.report import Counts, Figure, GroupSummary, SuiteSummary
from skillgauge.stats import RateInterval

from .clauses import called, require, require_travels, shown
from .shapes import require_headline_told, require_hidden_folders, require_shape

_CUTS = (0.25, 0.5, 0.75, 0.99)
"""Where a sample is cut off, as a share of its length."""

_LARGEST = 1_000_000
"""Files above this are not cut; a sample of a suite is small."""

_NOTHING = GroupSummary(
    suite_id="contract",
    target_id=None,
    arm="direct",
    runner="contract",
    model=None,
    counts=Counts(),
    pass_rate=RateInterval(rate=None, n=0),
)


def check_format(
    make: Callable[[], SuiteFormat],
    samples: Sequence[Path],
    foreign: Sequence[Path],
    *,
    options: JsonObject = EMPTY,
    round_trip: bool = True,
) -> None:
    """Check a format on sample files.

    Example::

        def test_format():
            make = Maker(FORMATS, "acme_bench.plugin")
            check_format(make, samples=[DATA / "good.bench.json"], foreign=[DATA / "package.json"])

    Args:
        make: makes the format.
        samples: files or folders that are suites of this format, without a mistake.
        foreign: files and folders that it must leave to others, the more similar the better.
        options: load options, as in `LoadRequest.options`, for samples that need some.
        round_trip: false for a format that cannot write suites; `dump` is then not called.

    Raises:
        AssertionError: a clause is broken; the sentence says which.
    """
    require(samples and foreign, "check_format needs at least one sample and one foreign path")
    format_ = called("making a format", make)
    require_shape(format_, SuiteFormat)
    require_hidden_folders(format_)
    with tempfile.TemporaryDirectory(prefix="skillgauge-contract-") as folder:
        place = Path(folder).resolve()
        for path in (*foreign, *_foreign(place / "foreign", samples)):
            claim = _Trying(format_, options, place).claim(path.absolute())
            require(
                claim is None, f"SuiteFormat.claim of {shown(str(path))}, which is foreign, must be None, not {claim}"
            )
        for sample in (path.absolute() for path in samples):
            trying = _Trying(format_, options, sample.parent)
            before = _stamps(sample)
            trying.sample(sample)
            if round_trip:
                trying.round_trip(sample, place / "dumped")
            trying.broken_variants(sample, place / "broken")
            require(_stamps(sample) == before, f"SuiteFormat must not change {sample.name}, or anything in it")


@dataclass(frozen=True)
class _Trying:
    """Asks a format as the kernel would."""

    format: SuiteFormat
    options: JsonObject
    cwd: Path

    def claim(self, path: Path) -> Claim | None:
        """Return the format's claim on a path."""
        claim = called(f"SuiteFormat.claim of {shown(str(path))}", self.format.claim, path)
        fits = claim is None or isinstance(claim, Claim)
        require(fits, f"SuiteFormat.claim must return a Claim or None, not {shown(claim)}")
        return claim

    def sample(self, path: Path) -> None:
        """A sample is claimed, loads, and means the same every time."""
        require(self.claim(path) is not None, f"SuiteFormat.claim must claim the sample {path.name}")
        suites = self._load_good(path)
        for suite in suites:
            self._check_suite(suite, path.name)
            self._check_figures(suite)
        same = [_content(suite) for suite in suites] == [_content(suite) for suite in self._load_good(path)]
        require(same, f"SuiteFormat.load of {path.name} must give the same suites every time")

    def round_trip(self, path: Path, folder: Path) -> None:
        """Check that a written suite is claimed, loads, and has the same cases but for the announced losses."""
        for number, suite in enumerate(self._load_good(path)):
            place = folder / path.name / str(number)
            dumped = called("SuiteFormat.dump", self.format.dump, suite)
            require(isinstance(dumped, Dumped), f"SuiteFormat.dump must return a Dumped, not {shown(dumped)}")
            files = _write(dumped, place)
            claimed = [place] if self.claim(place) else [file for file in files if self.claim(file)]
            require(claimed, f"SuiteFormat.claim must claim what SuiteFormat.dump wrote: {[f.name for f in files]}")
            loaded = self._load_good(*claimed)
            cases = {case.id: case for one in loaded for case in one.cases}
            for case in suite.cases:
                require(case.id in cases, f"SuiteFormat.dump must keep case {case.id!r}, but it is not read back")
                kept = bool(dumped.losses) or _meaning(case) == _meaning(cases[case.id])
                diff = f"{shown(_meaning(case), 900)} became {shown(_meaning(cases[case.id]), 900)}"
                require(kept, f"SuiteFormat.dump must keep case {case.id!r} as it is, or say what is lost: {diff}")

    def broken_variants(self, path: Path, folder: Path) -> None:
        """Check that broken files are answered by `SuiteError` with places, or by suites, and by nothing else."""
        for file in _files_of(path):
            content = file.read_bytes()
            if len(content) > _LARGEST:
                continue
            for name, variant in _variants(content):
                copy = _copy_with(path, file, variant, folder)
                subject = f"{file.name}, {name},"
                self.claim(copy)
                outcome = self._load(subject, copy)
                certain = path.is_file() and (path.suffix == ".json" or not variant.isascii())
                refused = isinstance(outcome, SuiteError)
                require(refused or not certain, f"SuiteFormat.load of {subject} must raise SuiteError, but gave suites")
                if path.is_file() and refused:
                    self._beside_a_good_one(subject, path, copy)
        absent = self._load("a file that is absent", folder / "absent.json")
        require(isinstance(absent, SuiteError), "SuiteFormat.load of a file that is absent must raise SuiteError")

    def _beside_a_good_one(self, subject: str, good: Path, bad: Path) -> None:
        """A bad file that a search met is reported and does not stop the good one."""
        loaded = self._load(f"a sample with {subject} among the searched files", good, searched=bad)
        clause = f"SuiteFormat.load must report a bad file among the searched ones, {subject} and pass over it"
        require(isinstance(loaded, Loaded) and loaded.suites, f"{clause}, but gave no suite: {loaded}")
        assert isinstance(loaded, Loaded)
        require(loaded.problems, f"{clause}, but reported nothing")
        _require_placed(subject, loaded.problems)

    def _load(self, subject: str, *paths: Path, searched: Path | None = None) -> Loaded | SuiteError:
        request = LoadRequest(
            paths=tuple(str(path) for path in paths),
            cwd=str(self.cwd),
            options=self.options,
            searched=(str(searched),) if searched else (),
        )
        try:
            loaded = self.format.load(request)
        except SuiteError as error:
            _require_placed(subject, error.problems)
            return error
        except Exception as error:
            outcome = f"raised {type(error).__name__}: {error}"
            raise AssertionError(
                f"SuiteFormat.load of {subject} must raise nothing but SuiteError, but {outcome}"
            ) from error
        require(isinstance(loaded, Loaded), f"SuiteFormat.load must return a Loaded, not {shown(loaded)}")
        return loaded

    def _load_good(self, *paths: Path) -> tuple[Suite, ...]:
        name = " and ".join(path.name for path in paths)
        loaded = self._load(name, *paths)
        outcome = f"but: {loaded}" if isinstance(loaded, SuiteError) else f"but gave {shown(loaded)}"
        right = isinstance(loaded, Loaded) and loaded.suites and not loaded.problems
        require(right, f"SuiteFormat.load of {name} must give suites without problems, {outcome}")
        assert isinstance(loaded, Loaded)
        return loaded.suites

    def _check_suite(self, suite: Suite, name: str) -> None:
        subject = f"SuiteFormat.load of {name}: suite {suite.id!r}"
        require(isinstance(suite, Suite), f"{subject} must be a Suite, not {shown(suite)}")
        require(
            suite.format and Path(suite.root).is_absolute(), f"{subject} must name its format and its absolute root"
        )
        first, second = list(suite.cases), list(suite.cases)
        require(first == second, f"{subject} must have cases that can be iterated more than once, with equal cases")
        require(first, f"{subject} must have cases")
        _require_unique(f"{subject}: case ids", (case.id for case in first))
        _require_unique(f"{subject}: target ids", (target.id for target in suite.targets))
        _require_unique(f"{subject}: arms", (arm.name for arm in suite.arms))
        arms = {arm.name for arm in suite.arms}
        compared = {name for one in suite.comparisons for name in (one.candidate, one.baseline)}
        require(compared <= arms, f"{subject} must compare arms that it has, not {sorted(compared - arms)}")
        target_ids = {target.id for target in suite.targets}
        values: list[BaseModel] = [*suite.targets, *suite.arms]
        for case in first:
            _require_unique(f"{subject}: check ids of case {case.id!r}", (check.id for check in case.checks))
            unknown = sorted(set(case.targets) - target_ids)
            require(not unknown, f"{subject}: case {case.id!r} must name targets of its suite, not {unknown}")
        for value in (*values, *first):
            require_travels(value, subject)
        _require_origins(subject, first)

    def _check_figures(self, suite: Suite) -> None:
        """The format's own numbers must also be there, as unknown, for a group in which nothing was measured."""
        call = "SuiteFormat.figures of a group without results"
        summary = SuiteSummary(suite=_head(suite), groups=(_NOTHING,))
        answer = called(call, self.format.figures, summary)
        fits = isinstance(answer, Mapping) and set(answer) <= {_NOTHING.key}
        require(fits, f"{call} must return a mapping by key of a group of the suite, not {shown(answer)}")
        for figures in answer.values():
            right = isinstance(figures, tuple) and all(isinstance(one, Figure) for one in figures)
            require(right, f"{call} must return tuples of Figure, not {shown(figures)}")
            _require_unique(f"{call}: names", (one.name for one in figures))
            require_headline_told(self.format, summary.suite, figures)


def _head(suite: Suite) -> SuiteHead:
    return SuiteHead(
        id=suite.id,
        name=suite.name,
        version=suite.version,
        format=suite.format,
        dialect=suite.dialect,
        root=suite.root,
        content_digest="0",
        case_count=sum(1 for _ in suite.cases),
        targets=tuple(TargetHead(id=target.id, name=target.name, version=target.version) for target in suite.targets),
        arms=tuple(arm.name for arm in suite.arms),
        comparisons=suite.comparisons,
        document=suite.document,
        gates=suite.gates,
        completion=suite.completion,
        parameters=suite.parameters,
    )


def _files_of(path: Path) -> list[Path]:
    """Return a file itself, or the files of a folder in order."""
    if path.is_file():
        return [path]
    return sorted(file for file in path.rglob("*") if file.is_file())


def _copy_with(path: Path, file: Path, content: bytes, folder: Path) -> Path:
    """Copy a suite into an emptied folder, and give one of its files another content; return the copy."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    copy = folder / path.name
    if path.is_file():
        shutil.copy(path, copy)
        broken = copy
    else:
        shutil.copytree(path, copy)
        broken = copy / file.relative_to(path)
    broken.write_bytes(content)
    return copy


def _variants(content: bytes) -> Iterator[tuple[str, bytes]]:
    text = content.rstrip()
    for cut in _CUTS if text else ():
        yield f"cut off after {cut:.0%}", text[: int(len(text) * cut)]
    yield "replaced by binary data", bytes(range(256)) * 8
    yield "nested 100,000 times", b"[" * 100_000


def _foreign(folder: Path, samples: Sequence[Path]) -> Iterator[Path]:
    """Paths that no format knows, made here."""
    folder.mkdir(parents=True)
    empty, foreign_folder = folder / "empty", folder / "other"
    empty.mkdir()
    foreign_folder.mkdir()
    (foreign_folder / "notes.txt").write_text("unrelated")
    yield from (empty, foreign_folder, folder / "absent.json", folder / ("long" * 2000 + ".json"))
    suffixes = {"", ".json", ".yaml", ".md", *(sample.suffix for sample in samples if sample.is_file())}
    for suffix in sorted(suffixes):
        for name, content in (("binary", bytes(range(256)) * 8), ("nothing", b""), ("text", b"unrelated\n")):
            path = folder / f"{name}{suffix}"
            path.write_bytes(content)
            yield path
    long = folder / f"{'x' * 240}.json"
    long.write_text("{}")
    yield long
    with suppress(OSError):  # not every file system has such names
        odd = Path(os.fsdecode(os.fsencode(folder) + b"/not-utf-8-\xff.json"))
        odd.write_text("{}")
        yield odd
    with suppress(OSError):
        (folder / "loop.json").symlink_to("loop.json")
        yield folder / "loop.json"


def _stamps(path: Path) -> dict[str, tuple[int, int]]:
    files = [path] if path.is_file() else sorted(path.rglob("*"))
    return {str(file): (file.stat().st_mtime_ns, file.stat().st_size) for file in files}


def _content(suite: Suite) -> object:
    return suite.model_dump(mode="json")


def _meaning(case: Case) -> object:
    """Return everything that must survive writing and reading: all but the place in the file and of copied files."""
    dumped = case.model_dump(mode="json", exclude={"origin": True, "checks": {"__all__": {"origin"}}})
    for name, files in (("files", case.files), ("grader_files", case.grader_files)):
        dumped[name] = [digest(file.path, file.content_id) for file in files]
    return dumped


def _write(dumped: Dumped, folder: Path) -> list[Path]:
    _require_unique("SuiteFormat.dump: paths", (path for path, _ in dumped.artifacts))
    require(dumped.artifacts, "SuiteFormat.dump must give at least one file")
    folder.mkdir(parents=True)
    written = []
    for path, content in dumped.artifacts:
        pure = PurePosixPath(path)
        inside = not pure.is_absolute() and ".." not in pure.parts and "\\" not in path and pure.name
        require(inside, f"SuiteFormat.dump must give relative paths, with slashes, not {path!r}")
        require(isinstance(content, bytes), f"SuiteFormat.dump must give the bytes of {path}, not {shown(content)}")
        written.append(folder / path)
        written[-1].parent.mkdir(parents=True, exist_ok=True)
        written[-1].write_bytes(content)
    return written


def _require_unique(what: str, names: Iterable[str]) -> None:
    double = [name for name, count in Counter(names).items() if count > 1]
    require(not double, f"{what} must be unique, but {shown(double)} come twice")


def _require_placed(subject: str, problems: Sequence[Problem]) -> None:
    for problem in problems:
        place = located_all((problem,))[0].span
        message = f"{problem.code}: {problem.message}"
        require(
            place is not None, f"SuiteFormat.load of {subject} must say where each problem is, not only {message!r}"
        )
        assert place is not None
        missing = not Path(place.file).is_file()  # what is not there has no lines
        empty = not missing and not Path(place.file).read_bytes().strip()
        placed = missing or empty or place.line is not None
        require(
            placed,
            f"SuiteFormat.load of {subject} must give the line of each problem, not only {str(place)!r}: {message}",
        )


def _require_origins(subject: str, cases: Sequence[Case]) -> None:
    for case in cases:
        _require_origin(f"{subject}: case {case.id!r}", case.origin)
        for check in case.checks:
            _require_origin(f"{subject}: check {check.id!r} of case {case.id!r}", check.origin)


def _require_origin(subject: str, origin: Origin | None) -> None:
    require(origin is not None, f"{subject} must have an origin")
    assert origin is not None
    require(Path(origin.file).is_file(), f"{subject} must have an origin in a file that is there, not {origin.file!r}")
    span = locate(origin)
    is_placed = not origin.pointer or (span is not None and span.line is not None)
    require(is_placed, f"{subject} must have an origin that can be found: {origin.pointer} is nowhere in {origin.file}")
    try:
        value: object = read_document(Path(origin.file)).value
    except SuiteError:
        return  # neither JSON nor YAML: only its format knows where things stand
    for step in origin.pointer:
        held = isinstance(value, dict) and step in value
        listed = isinstance(value, tuple) and isinstance(step, int) and 0 <= step < len(value)
        require(
            held or listed, f"{subject} must have an origin that can be found: {origin.pointer} is not in {origin.file}"
        )
        assert isinstance(value, dict | tuple)
        value = value[step]  # type: ignore[index]  # one of the two
