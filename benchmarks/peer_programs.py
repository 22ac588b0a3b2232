"""Programs of rows, as text: the least that a job takes, and the use of libraries that have no command for it."""

from __future__ import annotations

READ_YAML = "import sys, yaml; yaml.load(open(sys.argv[1]), yaml.CSafeLoader)"
"""The least that reading a suite takes, without a place for anything."""
READ_YAML_WITH_PACKAGES = """import asyncio, sys
import click, pluggy, pydantic, stevedore, yaml

class Model(pydantic.BaseModel):
    number: int

Model(number=1)
yaml.load(open(sys.argv[1]), yaml.CSafeLoader)
"""
"""The same by a program that stands on the packages which skillgauge is built on, and does nothing else with them."""
READ_JSON = "import json, sys; json.load(open(sys.argv[1]))"
SPAWNS = """import concurrent.futures, json, subprocess, sys

folder, count, at_once, *words = sys.argv[1:]

def one(n):
    request = json.dumps({"jsonrpc": "2.0", "method": "invoke", "params": {"n": n}, "id": 1}).encode()
    done = subprocess.run(words, input=request, capture_output=True, cwd=folder, check=True)
    return json.loads(done.stdout)["result"]["result"] == str(n * 2)

with concurrent.futures.ThreadPoolExecutor(int(at_once)) as pool:
    print(sum(pool.map(one, range(int(count)))), "passed")
"""
"""Starts the command once for each task, so many at a time, and reads its answer."""
RECORDS = """import asyncio, json, sqlite3, sys
import click, pluggy, pydantic, stevedore, yaml

class Record(pydantic.BaseModel):
    number: int
    text: str

count = int(sys.argv[1])
database = sqlite3.connect("records.db")
database.execute("pragma journal_mode = wal")
database.execute("create table records (number integer primary key, record text)")
for begin in range(0, count, 100):
    records = [Record(number=n, text=f"label {n}") for n in range(begin, min(count, begin + 100))]
    with database:
        rows = [(record.number, record.model_dump_json()) for record in records]
        database.executemany("insert into records values (?, ?)", rows)
print(database.execute("select count(*) from records").fetchone()[0], "passed")
"""
"""Imports the packages that skillgauge is built on, and keeps a record of each session in a file."""
SHELLS = """import concurrent.futures, os, subprocess, sys

open("response.txt", "w").write("mock")
words = sys.argv[3:]

def one(n):
    seen = {"PATH": os.environ["PATH"], "RESPONSE_TEXT": "mock"}
    return all(subprocess.run(["sh", "-c", word], env=seen, capture_output=True).returncode == 0 for word in words)

with concurrent.futures.ThreadPoolExecutor(int(sys.argv[2])) as pool:
    print(sum(pool.map(one, range(int(sys.argv[1])))), "passed")
"""
"""Runs all commands for each session, so many sessions at a time, in no sandbox."""
IN_PROCESS = """import sys
import skillgauge
from skillgauge.api import Execution, Identity, Provider, hookimpl

class Double:
    async def check(self):
        return ()

    def check_target(self, target):
        return ()

    def identity(self, target):
        return Identity(name="double", version="1")

    async def open(self, target, workspace):
        return self

    async def call(self, request):
        return Execution(output={"result": str(request.input["n"] * 2)}, duration_s=0.0)

    async def close(self):
        pass

class House:
    @hookimpl
    def skillgauge_adapters(self):
        yield Provider(name="double", factory=Double, summary="Doubles a number.")

skill, tasks, sandbox = sys.argv[1:]
run = skillgauge.evaluate(skill, plugins=[House()], suites={"tasks": tasks}, sandbox=sandbox)
print(sum(result.verdict == "pass" for result in run.results()), "passed")
"""
"""Calls a function as an adapter of its own, in the process of the evaluation."""
DOUBLE = "def answer(data):\n    return {'result': str(data['n'] * 2)}\n"
"""A skill for the adapter `python`."""
WORKER = """import json, sys
for line in sys.stdin:
    request = json.loads(line)
    n = request.get("params", {}).get("n", 0)
    print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": {"result": str(n * 2)}}), flush=True)
"""
"""A skill that answers one request after another."""
PYDANTIC_EVALS = """import sys
from pydantic_evals import Case, Dataset
from pydantic_evals.evaluators import Contains

def case(n):
    return Case(name=f"case-{n:05}", inputs=f"label {n}", evaluators=(Contains(value=f"label {n}"),))

async def answer(text):
    return f"mock: {text}"

report = Dataset(name="labels", cases=[case(n) for n in range(int(sys.argv[1]))]).evaluate_sync(answer, progress=False)
print(sum(all(found.value for found in case.assertions.values()) for case in report.cases), "passed")
"""
DEEPEVAL = """import sys
from deepeval import evaluate
from deepeval.evaluate.configs import CacheConfig, DisplayConfig
from deepeval.metrics import BaseMetric
from deepeval.test_case import LLMTestCase

class Contains(BaseMetric):
    threshold, async_mode, __name__ = 1, True, "Contains"

    def measure(self, case, *args, **kwargs):
        self.success = case.expected_output in case.actual_output
        self.score, self.reason = float(self.success), ""
        return self.score

    async def a_measure(self, case, *args, **kwargs):
        return self.measure(case)

    def is_successful(self):
        return self.success

def case(n):
    return LLMTestCase(input=f"label {n}", actual_output=f"mock: label {n}", expected_output=f"label {n}")

silent, uncached = DisplayConfig(show_indicator=False, print_results=False), CacheConfig(write_cache=False)
cases = [case(n) for n in range(int(sys.argv[1]))]
result = evaluate(test_cases=cases, metrics=[Contains()], display_config=silent, cache_config=uncached)
print(sum(bool(one.success) for one in result.test_results), "passed")
"""
INSPECT = """from inspect_ai import Task, task
from inspect_ai.dataset import Sample
from inspect_ai.model import ModelOutput
from inspect_ai.scorer import includes
from inspect_ai.solver import solver

@solver
def answer():
    async def solve(state, generate):
        state.output = ModelOutput.from_content("mock", f"mock: {state.input_text}")
        return state

    return solve

@task
def labels(n: int):
    samples = [Sample(input=f"label {k}", target=f"label {k}") for k in range(n)]
    return Task(dataset=samples, solver=answer(), scorer=includes())
"""
"""Asks no model, since the one for tests counts tokens by a table that it downloads."""
