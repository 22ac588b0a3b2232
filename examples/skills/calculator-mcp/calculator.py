"""What the calculator can do, whatever way it is called. `calculator-http` and `calculator-mcp` have the same copy.

Arithmetic is evaluated from the syntax tree, never by `eval`, and every number is kept small enough that no expression
can keep the processor busy.
"""

import ast
import math
import operator

MAX_EXPRESSION = 200
"""Characters of the longest expression that is read."""
MAX_FACTORIAL = 1_000
MAX_BITS = 10_000
"""Size of the largest whole number."""

BINARY = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}
UNARY = {ast.UAdd: operator.pos, ast.USub: operator.neg}


class InputError(ValueError):
    """The input is not something that this skill computes; the text says why."""


def answer(params):
    """The answer to one input; what cannot be computed is answered with `error: ...`."""
    try:
        return solve(params)
    except InputError as reason:
        return f"error: {reason}"


def solve(params):
    """The value of an expression, a text reversed, or whether it is a palindrome. Raises `InputError`."""
    text = str(params.get("input") or "")
    if params.get("operation") == "reverse":
        return text[::-1]
    if params.get("operation") == "is_palindrome":
        return "true" if text == text[::-1] else "false"
    if isinstance(params.get("expression"), str):
        return str(evaluate(params["expression"]))
    raise InputError("give an expression, or an operation and its input")


def evaluate(expression):
    """The value of an arithmetic expression; a number followed by `!` is its factorial."""
    if len(expression) > MAX_EXPRESSION:
        raise InputError("the expression is too long")
    text = expression.strip()
    if text.endswith("!"):
        return factorial(evaluate(text[:-1]))
    try:
        tree = ast.parse(text, mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise InputError("not an arithmetic expression") from None
    return bounded(compute(tree.body))


def compute(node):
    """The value of a node of the syntax tree."""
    if isinstance(node, ast.Constant) and type(node.value) in (int, float):
        return node.value
    if isinstance(node, ast.UnaryOp) and type(node.op) in UNARY:
        return UNARY[type(node.op)](compute(node.operand))
    if isinstance(node, ast.BinOp) and (isinstance(node.op, ast.Pow) or type(node.op) in BINARY):
        calculate = power if isinstance(node.op, ast.Pow) else BINARY[type(node.op)]
        try:
            return bounded(calculate(compute(node.left), compute(node.right)))
        except ZeroDivisionError:
            raise InputError("division by zero") from None
        except OverflowError:
            raise InputError("the number is too large") from None
    raise InputError("only numbers, + - * / // % ** and parentheses are computed")


def power(base, exponent):
    """`base ** exponent`, with the size of the result known before it is computed."""
    if isinstance(base, int) and isinstance(exponent, int) and base.bit_length() * exponent > MAX_BITS:
        raise InputError("the number is too large")
    return base**exponent


def bounded(value):
    """The value, if it is a real number of acceptable size."""
    if isinstance(value, complex) or (isinstance(value, float) and not math.isfinite(value)):
        raise InputError("the result is no real number")
    if isinstance(value, int) and value.bit_length() > MAX_BITS:
        raise InputError("the number is too large")
    return value


def factorial(value):
    """The factorial of a whole number."""
    if not isinstance(value, int) or not 0 <= value <= MAX_FACTORIAL:
        raise InputError(f"factorials are computed of whole numbers from 0 to {MAX_FACTORIAL}")
    return math.factorial(value)
