"""The arms of a suite: what is installed in each, which are compared, and the key under which trials are summarised."""

from dataclasses import dataclass, replace
from enum import StrEnum

from skillgauge_documents.frozen import EMPTY, Frozen, JsonObject, digest, once

from .inputs import FileSpec, content_ids


class SkillRole(StrEnum):
    """The reason why a skill is present in an arm."""

    CANDIDATE = "candidate"
    DISTRACTOR = "distractor"
    PREVIOUS = "previous"


class SkillRef(Frozen):
    """A skill that an arm installs for the agent."""

    name: str
    root: str
    """Absolute path of the skill's folder."""
    digest: str
    role: SkillRole = SkillRole.CANDIDATE
    leaves_out: tuple[str, ...] = ()
    """Paths below `root` that are not installed, because they would leak answers."""


class Install(Frozen):
    """Something beside skills that an arm gives the agent; docs/writing-an-engine.md has the kinds of it."""

    kind: str
    name: str
    content: JsonObject = EMPTY
    files: tuple[FileSpec, ...] = ()
    replaces: bool = False
    """Of a case: whether only arms that install the same kind under the same name get it, in the place of theirs."""

    @once
    def digest(self) -> str:
        """Digest of all of it, the files with their paths included."""
        more = ["replaces"] if self.replaces else []
        return digest(self.kind, self.name, self.content, content_ids(self.files), *more)


class ArmKind(StrEnum):
    """The way in which the trials of an arm execute."""

    DIRECT = "direct"
    """An adapter calls the target."""
    AGENT = "agent"
    """An engine drives an agent that may use the arm's skills."""


class Arm(Frozen):
    """One named condition: the set of skills present, or a direct call."""

    name: str
    kind: ArmKind
    skills: tuple[SkillRef, ...] = ()
    installs: tuple[Install, ...] = ()

    @once
    def digest(self) -> str:
        """Digest of the condition, whatever it is called."""
        more = [[one.digest for one in self.installs]] if self.installs else []
        return digest(self.kind, [(skill.name, skill.digest, skill.leaves_out) for skill in self.skills], *more)


DIRECT = Arm.model_construct(name="direct", kind=ArmKind.DIRECT)
"""The arm of suites that call their target directly."""


class Comparison(Frozen):
    """Two arms whose difference is the suite's question."""

    candidate: str
    baseline: str
    is_same: bool = False
    """Whether both arms are made alike, so that any difference between them is noise (A/A)."""


@dataclass(frozen=True, slots=True)
class GroupKey:
    """The key under which trials are summarised: those of one suite, target, arm, runner and model."""

    suite_id: str
    target_id: str | None
    arm: str
    runner: str
    model: str | None

    @property
    def subject(self) -> str:
        """Id of its target, else of its suite."""
        return self.target_id or self.suite_id

    def in_arm(self, arm: str) -> "GroupKey":
        """The group that differs from this one by its arm only."""
        return replace(self, arm=arm)
