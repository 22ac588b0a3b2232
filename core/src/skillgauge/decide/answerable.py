"""Gates that no outcome of a plan could answer, told before anything is paid for."""

from __future__ import annotations

from collections.abc import Iterator

from ..plan.preparing import Prepared
from .decision import GateOptions
from .foresight import foresee
from .pair_gates import LiftGate, PairDemands


def unanswerable(prepared: Prepared, options: GateOptions) -> Iterator[str]:
    """Yield a sentence on each gate that no outcome of the plan could meet, or none could miss."""
    demands = options.pairs
    gates = tuple(_answerable_from(demands))
    for comparison in foresee(prepared) if gates else ():
        for option, needed, verb in gates:
            best = comparison.best(demands.scope)
            if best is None or best <= needed:
                yield f"{comparison.subject} cannot {verb} {option} {demands.scope.text}, whatever comes out"


def _answerable_from(demands: PairDemands) -> Iterator[tuple[str, float, str]]:
    """Yield each gate on a lift with the lower bound that the best outcome has to exceed, and what it then can."""
    margin = f" --margin {demands.margin_pts:g}" if demands.margin_pts else ""
    for gate in demands.lift_gates:
        verb = "meet" if gate is LiftGate.BETTER else "miss"
        yield f"--gate {gate}{margin}", demands.margin_pts / 100, verb
    if demands.min_delta_pts is not None and demands.min_delta_pts > 0:
        yield f"--min-delta-pts {demands.min_delta_pts:g}", 0.0, "meet"
