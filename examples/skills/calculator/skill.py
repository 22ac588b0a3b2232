"""A skill called as a process: JSON-RPC 2.0 requests on stdin, one per line, each answered with a line on stdout.

Its arithmetic is evaluated from the syntax tree, never by `eval`, and every number is kept small enough that no
expression can keep the processor busy.
"""

import ast
import json
import math
import operator
import sys

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
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow):
        return power(compute(node.left), compute(node.right))
    if isinstance(node, ast.BinOp) and type(node.op) in BINARY:
        try:
            return bounded(BINARY[type(node.op)](compute(node.left), compute(node.right)))
        except ZeroDivisionError:
            raise InputError("division by zero") from None
        except OverflowError:
            raise InputError("the number is too large") from None
    raise InputError("only numbers, + - * / // % ** and parentheses are computed")


def power(base, exponent):
    """`base ** exponent`, with the size of the result known before it is computed."""
    whole = isinstance(base, int) and isinstance(exponent, int)
    if whole and base.bit_length() * exponent > MAX_BITS:
        raise InputError("the number is too large")
    try:
        result = base**exponent
    except ZeroDivisionError:
        raise InputError("division by zero") from None
    except OverflowError:
        raise InputError("the number is too large") from None
    return bounded(result)


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


def invoke(params):
    """Answer one request."""
    text = params.get("input", "")
    if params.get("operation") == "reverse":
        return str(text)[::-1]
    if params.get("operation") == "is_palindrome":
        return "true" if str(text) == str(text)[::-1] else "false"
    if isinstance(params.get("expression"), str):
        return str(evaluate(params["expression"]))
    raise InputError("give an expression, or an operation and its input")


def answer(request):
    """The JSON-RPC answer to a request."""
    reply = {"jsonrpc": "2.0", "id": request.get("id")}
    params = request.get("params")
    if request.get("method") == "healthcheck":
        return {**reply, "result": {"status": "healthy"}}
    if request.get("method") != "invoke" or not isinstance(params, dict):
        return {**reply, "error": {"code": -32601, "message": "unknown method"}}
    try:
        return {**reply, "result": {"result": invoke(params)}}
    except InputError as reason:
        return {**reply, "result": {"result": f"error: {reason}"}}


def main():
    """Answer line by line until stdin is closed, which may be after the first: so it also works as a worker."""
    for line in sys.stdin:
        try:
            request = json.loads(line)
        except (ValueError, RecursionError):
            request = None
        if isinstance(request, dict):
            reply = answer(request)
        else:
            reply = {"jsonrpc": "2.0", "id": None, "error": {"code": -32700, "message": "not a JSON-RPC request"}}
        print(json.dumps(reply), flush=True)


if __name__ == "__main__":
    main()
