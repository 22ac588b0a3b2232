"""A store in the folder is the folder's: what this user's own key did not sign decides nothing."""

from __future__ import annotations

import json
import shutil
import sqlite3
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from skillgauge_testkit.program import PROGRAM, Done, Program

from .conftest import MakeSkill, task

pytestmark = pytest.mark.e2e

WRONG = """import json, sys
request = json.loads(sys.stdin.read())
print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": "wrong"}))
"""
COUNT = 8
GATE = ("--exit-on-fail", "--min-completion", "0.8")


@contextmanager
def database(path: Path) -> Iterator[sqlite3.Connection]:
    """A connection that is closed, with all that was written in the one file."""
    with sqlite3.connect(path) as db:
        yield db
        db.commit()
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    db.close()


def turn(db: sqlite3.Connection) -> None:
    """Make every stored result a pass."""
    for row, body in db.execute("SELECT id, body FROM results").fetchall():
        result = json.loads(body)
        result |= {"verdict": "pass", "value": 1.0}
        result["scores"] = [{"status": "passed", "value": 1.0}]
        result["execution"]["output"] = "right"
        db.execute("UPDATE results SET verdict = 'pass', body = ? WHERE id = ?", (json.dumps(result), row))


def reopen(db: sqlite3.Connection) -> None:
    """Make every run unfinished, without its last trial."""
    db.execute("UPDATE runs SET state = 'interrupted', finished_at = NULL, summary = NULL")
    db.execute("DELETE FROM owners")
    db.execute("DELETE FROM results WHERE id = (SELECT max(id) FROM results)")
    db.execute("DELETE FROM attempts WHERE id NOT IN (SELECT id FROM results)")


@dataclass(frozen=True)
class Folder:
    """A folder whose skill answers everything wrongly."""

    program: Program
    work: Path
    arguments: tuple[str, ...]

    @property
    def store(self) -> Path:
        """Where its runs are kept."""
        return self.work / "skillgauge.db"

    def evaluate(self, *more: str, env: dict[str, str] | None = None) -> Done:
        """Evaluate the skill."""
        return self.program("eval", *self.arguments, *more, env=env)

    def counts(self) -> dict[str, int]:
        """How many results of each verdict the newest run has."""
        with database(self.store) as db:
            rows = db.execute(
                "SELECT verdict, count(*) FROM results JOIN groups USING (grp) "
                "WHERE run = (SELECT max(run) FROM runs) GROUP BY verdict"
            ).fetchall()
        return dict(rows)


@pytest.fixture
def folder(program: Program, work: Path, make_skill: MakeSkill, tasks: Callable[..., Path]) -> Folder:
    """The folder, in which nothing has run."""
    file = tasks(*(task(f"t{n}", f"say {n}", "right") for n in range(COUNT)))
    skill = make_skill(WRONG, entrypoint="python3 -I -S skill.py")
    return Folder(program, work, ("--skills", str(skill), "--tasks", str(file)))


@pytest.fixture
def stranger(tmp_path: Path, environment: dict[str, str]) -> dict[str, str]:
    """The environment of another user."""
    home = tmp_path / "stranger"
    shutil.copytree(Path(environment["HOME"]) / ".cache", home / ".cache")
    return {"HOME": str(home)}


def forge(folder: Folder, stranger: dict[str, str]) -> None:
    """Bring an unfinished run of the same plan, in which everything has passed."""
    done = folder.evaluate(env=stranger)
    assert done.code == 0, done.stderr
    with database(folder.store) as db:
        turn(db)
        reopen(db)


def require_evaluated_anew(done: Done, folder: Folder) -> None:
    """Nothing was resumed, the user was told, and every trial was executed."""
    assert (done.code, "(0 of 8 passed)" in done.verdict) == (1, True), done.stderr
    assert "resuming" not in done.stderr
    assert "warning[store.not-yours]: the unfinished run " in done.stderr
    assert "next: Everything is evaluated anew." in done.stderr
    assert folder.counts() == {"fail": COUNT}


@pytest.mark.slow
def test_another_users_unfinished_run_is_not_resumed(folder: Folder, stranger: dict[str, str]) -> None:
    """A store that came with the folder turns no gate, although it holds an unfinished run of the same plan."""
    forge(folder, stranger)
    done = folder.evaluate(*GATE)
    require_evaluated_anew(done, folder)
    assert "another user, another machine or an older version wrote it" in done.stderr
    assert "the same key in SKILLGAUGE_STORE_KEY" in done.stderr


@pytest.mark.slow
@pytest.mark.usefixtures("strongest")
def test_it_is_not_resumed_with_untrusted_either(folder: Folder, stranger: dict[str, str]) -> None:
    """`--untrusted` and `--exit-on-fail` together come to what the skill has earned."""
    forge(folder, stranger)
    require_evaluated_anew(folder.evaluate("--untrusted", *GATE), folder)


@pytest.mark.slow
def test_a_signer_that_was_copied_helps_nobody(folder: Folder, stranger: dict[str, str]) -> None:
    """The name of the key is no secret: who writes it into a store has signed nothing."""
    assert folder.evaluate().code == 0
    with database(folder.store) as db:
        ((head,),) = db.execute("SELECT head FROM runs").fetchall()
        db.execute("DELETE FROM runs")
    folder.store.unlink()
    forge(folder, stranger)
    with database(folder.store) as db:
        db.execute("UPDATE runs SET head = ?", (head,))
    done = folder.evaluate(*GATE)
    require_evaluated_anew(done, folder)
    assert "it was changed after it was written" in done.stderr


@pytest.mark.slow
def test_an_older_version_signed_nothing(folder: Folder) -> None:
    """A run without any signature is shown, and neither resumed nor passed over in silence."""
    assert folder.evaluate().code == 0
    with database(folder.store) as db:
        for table, key in (("results", "id"), ("cases", "case_index"), ("runs", "run")):
            column = "head" if table == "runs" else "body"
            for row, text in db.execute(f"SELECT {key}, {column} FROM {table}").fetchall():
                value = {name: one for name, one in json.loads(text).items() if name not in ("signature", "signer")}
                db.execute(f"UPDATE {table} SET {column} = ? WHERE {key} = ?", (json.dumps(value), row))
        reopen(db)
    shown = folder.program("report", "show", "latest")
    assert "t1" in shown.stdout
    assert "warning[store.not-yours]" in shown.stderr
    require_evaluated_anew(folder.evaluate(*GATE), folder)


def edit_a_verdict(db: sqlite3.Connection) -> None:
    """Turn one stored fail into a pass."""
    ((row, body),) = db.execute("SELECT id, body FROM results ORDER BY id LIMIT 1").fetchall()
    db.execute("UPDATE results SET body = ? WHERE id = ?", (body.replace('"verdict":"fail"', '"verdict":"pass"'), row))


def edit_a_case(db: sqlite3.Connection) -> None:
    """Let a case have asked something else."""
    ((index, body),) = db.execute("SELECT case_index, body FROM cases ORDER BY case_index LIMIT 1").fetchall()
    db.execute("UPDATE cases SET body = ? WHERE case_index = ?", (body.replace("say 0", "say 9"), index))


def move_a_result(db: sqlite3.Connection) -> None:
    """Let one result stand for another trial, too."""
    ((other, trial),) = db.execute("SELECT id, trial_id FROM results ORDER BY id DESC LIMIT 1").fetchall()
    ((body,),) = db.execute("SELECT body FROM results ORDER BY id LIMIT 1").fetchall()
    db.execute("UPDATE results SET body = ? WHERE id = ? AND trial_id = ?", (body, other, trial))


@pytest.mark.slow
@pytest.mark.parametrize("edit", [edit_a_verdict, edit_a_case, move_a_result])
def test_a_run_of_ones_own_that_was_edited_is_not_resumed(
    folder: Folder, edit: Callable[[sqlite3.Connection], None]
) -> None:
    """A signature is of one row of one run: a store that was once the user's own carries nothing else."""
    assert folder.evaluate().code == 0
    with database(folder.store) as db:
        reopen(db)
        edit(db)
    done = folder.evaluate(*GATE)
    require_evaluated_anew(done, folder)
    assert "it was changed after it was written" in done.stderr


@pytest.mark.slow
def test_a_row_of_an_earlier_run_is_not_one_of_a_later(folder: Folder) -> None:
    """Results of another run of the same plan, signed by the same key, do not count in this one."""
    assert folder.evaluate().code == 0
    assert folder.evaluate().code == 0
    with database(folder.store) as db:
        bodies = db.execute("SELECT body FROM results WHERE id < 2 << 40 ORDER BY id").fetchall()
        for place, (body,) in enumerate(bodies):
            db.execute("UPDATE results SET body = ? WHERE id = ?", (body, (2 << 40) + place))
        db.execute("UPDATE runs SET state = 'interrupted', finished_at = NULL, summary = NULL WHERE run = 2")
        db.execute("DELETE FROM results WHERE id = (SELECT max(id) FROM results)")
    require_evaluated_anew(folder.evaluate(*GATE), folder)


@pytest.mark.slow
def test_a_store_that_changes_what_is_written_ends_the_run(folder: Folder, stranger: dict[str, str]) -> None:
    """A trigger in a file that came with the folder turns no verdict of a run under way."""
    assert folder.evaluate(env=stranger).code == 0
    with database(folder.store) as db:
        db.execute(
            "CREATE TRIGGER turn AFTER INSERT ON results BEGIN UPDATE results SET verdict = 'pass', "
            'body = replace(body, \'"verdict":"fail"\', \'"verdict":"pass"\') WHERE id = new.id; END'
        )
    done = folder.evaluate(*GATE)
    assert (done.code, "error[store.altered]" in done.stderr) == (3, True), done.stderr


@pytest.mark.slow
def test_a_store_that_loses_what_is_written_ends_the_run(folder: Folder, stranger: dict[str, str]) -> None:
    """A trigger that takes results away leaves no run of the others alone."""
    assert folder.evaluate(env=stranger).code == 0
    with database(folder.store) as db:
        db.execute(
            "CREATE TRIGGER lose AFTER INSERT ON results WHEN new.case_index > 0 "
            "BEGIN DELETE FROM results WHERE id = new.id; END"
        )
    done = folder.evaluate(*GATE)
    assert (done.code, "of 8 results 7 are missing" in done.stderr) == (3, True), done.stderr


@pytest.mark.slow
def test_ones_own_run_goes_on(folder: Folder) -> None:
    """What this user's key has signed is resumed and not executed again."""
    assert folder.evaluate().code == 0
    with database(folder.store) as db:
        reopen(db)
    done = folder.evaluate(*GATE)
    assert "resuming run" in done.stderr
    assert "done before the interruption and not run again: 7 trials" in done.stderr
    assert "store.not-yours" not in done.stderr


@pytest.mark.slow
def test_machines_with_one_key_share_a_store(folder: Folder, stranger: dict[str, str]) -> None:
    """A key in the environment takes the place of the one in the home: jobs of CI resume each other's runs."""
    shared = {"SKILLGAUGE_STORE_KEY": "0123456789abcdef" * 2}
    assert folder.evaluate(env=stranger | shared).code == 0
    with database(folder.store) as db:
        reopen(db)
    assert "resuming run" in folder.evaluate(env=shared).stderr
    short = folder.evaluate(env={"SKILLGAUGE_STORE_KEY": "0123"})
    assert (short.code, "error[store.key]: SKILLGAUGE_STORE_KEY has 4 characters" in short.stderr) == (2, True)


@pytest.mark.slow
def test_the_key_is_the_users_alone(folder: Folder) -> None:
    """It is made once, with the first run that is stored, and readable by nobody else."""
    file = Path(folder.program.environment["HOME"], ".config/skillgauge/store.key")
    assert folder.program("history", "list").code == 0
    assert folder.evaluate("--dry-run").code == 0
    assert not file.exists()
    assert folder.evaluate().code == 0
    key = file.read_bytes()
    assert (len(key), file.stat().st_mode & 0o777) == (32, 0o600)
    assert folder.evaluate().code == 0
    assert file.read_bytes() == key
    assert [path.name for path in file.parent.iterdir()] == ["store.key"]
    file.chmod(0o644)
    done = folder.evaluate("--fresh")
    assert "warning[store.key]: the key that your runs are signed with cannot be used: other users may" in done.stderr


@pytest.mark.slow
def test_a_home_that_cannot_be_written_is_told(folder: Folder, tmp_path: Path) -> None:
    """Without a key that is kept the run itself works, and no later command resumes it."""
    (tmp_path / "file").touch()
    nowhere = {"XDG_CONFIG_HOME": str(tmp_path / "file")}
    done = folder.evaluate(env=nowhere)
    assert done.code == 0
    assert "warning[store.key]: the key that runs are signed with cannot be kept" in done.stderr
    assert "no later command can resume this run" in done.stderr
    with database(folder.store) as db:
        reopen(db)
    again = folder.evaluate(*GATE, env=nowhere)
    assert "resuming" not in again.stderr
    assert "warning[store.not-yours]" in again.stderr


@pytest.mark.slow
def test_a_killed_run_goes_on(folder: Folder, environment: dict[str, str], make_skill: MakeSkill, work: Path) -> None:
    """What was signed before a SIGKILL is this user's own word afterwards."""
    gate = work / "gate"
    waiting = f"""import json, os, sys, time
request = json.loads(sys.stdin.read())
while request["params"]["say"] == "say 7" and not os.path.exists({str(gate)!r}):
    time.sleep(0.02)
print(json.dumps({{"jsonrpc": "2.0", "id": request["id"], "result": "right"}}))
"""
    make_skill(waiting, entrypoint="python3 -I -S skill.py")
    process = subprocess.Popen([str(PROGRAM), "eval", *folder.arguments], cwd=work, env=environment)
    deadline = time.monotonic() + 60
    while _stored(folder.store) < COUNT - 1 and time.monotonic() < deadline:
        time.sleep(0.02)
    process.kill()
    process.wait()
    gate.touch()
    done = folder.evaluate(*GATE)
    assert f"not run again: {COUNT - 1} trials" in done.stderr
    assert "store.not-yours" not in done.stderr


def _stored(store: Path) -> int:
    try:
        with sqlite3.connect(f"file:{store}?mode=ro", uri=True) as db:
            count: int = db.execute("SELECT count(*) FROM results").fetchone()[0]
            return count
    except sqlite3.Error:
        return 0  # not made yet


def finished(folder: Folder, stranger: dict[str, str]) -> None:
    """Bring a finished run of a stranger, in which everything has passed."""
    assert folder.evaluate(env=stranger).code == 0
    with database(folder.store) as db:
        turn(db)


@pytest.mark.slow
@pytest.mark.parametrize("choice", ["--last-failed", "--changed"])
def test_a_strangers_run_chooses_no_cases(folder: Folder, stranger: dict[str, str], choice: str) -> None:
    """What a run that came with the folder calls passed, or unchanged, is evaluated all the same."""
    finished(folder, stranger)
    done = folder.evaluate(choice, *GATE)
    assert (done.code, "(0 of 8 passed)" in done.verdict) == (1, True), done.stderr
    assert "earlier runs: not signed with your key and passed over: 1 run (" in done.stderr
    assert folder.counts() == {"fail": COUNT}


@pytest.mark.slow
def test_a_strangers_run_is_no_part_of_ones_own(folder: Folder, stranger: dict[str, str]) -> None:
    """Its results are neither joined with new ones nor graded again; a file that the user names is his word."""
    finished(folder, stranger)
    for command in (["eval", *folder.arguments, "--confirm", "latest"], ["rescore", "latest"]):
        done = folder.program(*command)
        assert (done.code, "error[store.not-yours]: run " in done.stderr) == (2, True), done.stderr
        assert "a file that you name is your word" in done.stderr
    told = folder.program("report", "convert", "--input", "latest", "--format", "record", "--output", "run.record.json")
    assert "warning[store.not-yours]: run " in told.stderr
    assert "not-yours" not in folder.program("rescore", "run.record.json").stderr


@pytest.mark.slow
def test_a_gate_against_a_strangers_run(folder: Folder, stranger: dict[str, str]) -> None:
    """Without `--untrusted` the user, who has named it, is warned; with it the command ends before anything runs."""
    finished(folder, stranger)
    against = ("--gate", "not-worse", "--margin", "10", "--against", "latest")
    assert "warning[store.not-yours]: run " in folder.evaluate(*against).stderr
    runs = folder.program("history", "list", "--json").document["runs"]
    folder.store.unlink()
    finished(folder, stranger)
    done = folder.evaluate("--untrusted", *against)
    assert (done.code, "error[store.not-yours]: run " in done.stderr) == (2, True), done.stderr
    assert (len(runs), len(folder.program("history", "list", "--json").document["runs"])) == (2, 1)


@pytest.mark.slow
@pytest.mark.parametrize(
    "command", [("list",), ("show", "latest"), ("trend", "echo"), ("flaky",)], ids=lambda words: words[0]
)
def test_what_is_shown_says_who_did_not_write_it(
    folder: Folder, stranger: dict[str, str], command: tuple[str, ...]
) -> None:
    """Looking is free, and the reader knows whose word it is; of his own runs nothing is said."""
    finished(folder, stranger)
    done = folder.program("history", *command)
    assert (done.code, "warning[store.not-yours]: not signed with your key" in done.stderr) == (0, True), done.stderr
    folder.store.unlink()
    assert folder.evaluate().code == 0
    assert "not-yours" not in folder.program("history", *command).stderr


@pytest.mark.slow
def test_a_finished_run_is_signed_as_a_whole(folder: Folder) -> None:
    """A result that was taken out of one's own finished run, or a summary that was edited, makes it foreign."""
    assert folder.evaluate().code == 0
    assert "not-yours" not in folder.program("report", "show", "latest").stderr
    with database(folder.store) as db:
        db.execute("DELETE FROM results WHERE id = (SELECT min(id) FROM results)")
    assert "it was changed after it was written" in folder.program("report", "show", "latest").stderr
    assert folder.evaluate().code == 0
    with database(folder.store) as db:
        ((summary,),) = db.execute("SELECT summary FROM runs WHERE run = 2").fetchall()
        db.execute("UPDATE runs SET summary = ? WHERE run = 2", (summary.replace('"failed":8', '"failed":0'),))
    assert "not signed with your key" in folder.program("history", "show", "latest").stderr


def test_what_the_user_takes_in_is_his_word(folder: Folder, stranger: dict[str, str]) -> None:
    """A report that he imports is signed with his key."""
    finished(folder, stranger)
    arguments = ("report", "convert", "--input", "latest", "--format", "record", "--output", "run.record.json")
    assert folder.program(*arguments).code == 0
    folder.store.unlink()
    assert folder.program("history", "import", "run.record.json").code == 0
    assert "not-yours" not in folder.program("report", "show", "latest").stderr
