"""Mutants of a source file: every small change of a kind that could weaken it, made from its syntax tree.

A change is of text, so that the rest of the file stays as it is, lines included. Messages, annotations, docstrings
and the EXAMPLE of a plug-in are left alone: they carry no guarantee.
"""

import ast
import warnings
from collections import Counter
from dataclasses import dataclass, replace
from hashlib import sha256

BOUNDARY = {ast.Lt: "<=", ast.LtE: "<", ast.Gt: ">=", ast.GtE: ">"}
FLIP = {
    ast.Lt: ">=", ast.LtE: ">", ast.Gt: "<=", ast.GtE: "<", ast.Eq: "!=", ast.NotEq: "==",
    ast.Is: "is not", ast.IsNot: "is", ast.In: "not in", ast.NotIn: "in",
}  # fmt: skip
ARITHMETIC = {
    ast.Add: ("+", "-"), ast.Sub: ("-", "+"), ast.Mult: ("*", "/"), ast.Div: ("/", "*"), ast.FloorDiv: ("//", "*"),
    ast.Mod: ("%", "+"), ast.Pow: ("**", "*"), ast.LShift: ("<<", ">>"), ast.RShift: (">>", "<<"),
    ast.BitAnd: ("&", "|"), ast.BitOr: ("|", "&"), ast.BitXor: ("^", "|"), ast.MatMult: ("@", "*"),
}  # fmt: skip
TWINS = {"min": "max", "max": "min", "any": "all", "all": "any", "ceil": "floor", "floor": "ceil"}
PASSES_ON = {"scrubbed"}
"""What calls its first argument with the others; the mutant calls it without."""
NOT_REMOVED = {
    "isinstance",
    "range",
    "len",
    "super",
    "cast",
    "zip",
    "enumerate",
    "dict",
    "list",
    "tuple",
    "set",
    "type",
}
"""Calls whose first argument is nothing like their result, so that a mutant would only be a crash."""


@dataclass(frozen=True)
class Mutant:
    """One change at one place. Its key is the shape of its function, the kind of change and a number of its own.

    Names, texts and annotations are no part of a shape, so a rename keeps every key.
    """

    module: str
    function: str
    shape: str
    kind: str
    line: int
    start: int
    end: int
    text: str
    before: str
    after: str
    number: int = 0

    @property
    def key(self) -> str:
        """The name of the mutant in the list of accepted survivors."""
        return f"{self.shape} {self.kind} {self.number + 1}"

    @property
    def place(self) -> str:
        """Where the change is, for a reader."""
        return f"{self.module}:{self.function or 'module'}"

    @property
    def name(self) -> str:
        """The name of the mutant among all of today; two functions may have one shape."""
        return f"{self.place}: {self.key}"

    @property
    def change(self) -> str:
        """What is changed, for a reader."""
        return f"{self.before} -> {self.after}"

    @property
    def package(self) -> str:
        """The part of the program that it stands in."""
        return self.module.rpartition("/")[0]

    def of(self, source: bytes) -> bytes:
        """The source with the change in it."""
        return source[: self.start] + self.text.encode() + source[self.end :]


class Changes(ast.NodeVisitor):
    """Every change of a tree, as its kind, place and text, with the function that it stands in."""

    def __init__(self, source: bytes) -> None:
        self.source, self.function, self.shape, self.found = source, "", "", []
        self.starts = [0]
        for line in source.splitlines(keepends=True):
            self.starts.append(self.starts[-1] + len(line))
        for statement in ast.parse(source).body:
            self.shape = shape_of(statement)
            self.visit(statement)

    def span(self, node: ast.AST) -> tuple[int, int]:
        ends = self.starts[node.end_lineno - 1] + node.end_col_offset
        return self.starts[node.lineno - 1] + node.col_offset, ends

    def text(self, node: ast.AST) -> str:
        start, end = self.span(node)
        return self.source[start:end].decode()

    def change(self, kind: str, node: ast.AST, text: str) -> None:
        self.found.append((self.function, self.shape, kind, node.lineno, *self.span(node), text))

    def sign(self, kind: str, left: ast.AST, right: ast.AST, signs: tuple[str, str]) -> None:
        """Another sign between two operands, whatever brackets stand there."""
        start, end = self.span(left)[1], self.span(right)[0]
        between = self.source[start:end].decode()
        old = next(one for one in (signs[0], signs[0].replace(" ", "  ")) if one in between)
        place = self.function, self.shape, kind, left.end_lineno, start, end
        self.found.append((*place, between.replace(old, signs[1], 1)))

    def generic_visit(self, node: ast.AST) -> None:
        for name, value in ast.iter_fields(node):
            if name in {"annotation", "returns", "decorator_list"} or (isinstance(node, ast.Raise) and name == "exc"):
                continue
            for one in value if isinstance(value, list) else [value]:
                if isinstance(one, ast.AST):
                    self.visit(one)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        outer = self.function, self.shape
        self.function, self.shape = f"{self.function}.{node.name}".strip("."), shape_of(node)
        self.generic_visit(node)
        self.function, self.shape = outer

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        outer = self.function, self.shape
        self.function = f"{self.function}.{node.name}".strip(".")
        for statement in node.body:
            self.shape = shape_of(statement)
            self.visit(statement)
        self.function, self.shape = outer

    def visit_Assign(self, node: ast.Assign) -> None:
        if not any(isinstance(one, ast.Name) and one.id == "EXAMPLE" for one in node.targets):
            self.generic_visit(node)

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        """Words are left alone."""

    def visit_Compare(self, node: ast.Compare) -> None:
        operands = [node.left, *node.comparators]
        for op, left, right in zip(node.ops, operands, operands[1:], strict=False):
            old = next(sign for kind, sign in SIGNS.items() if isinstance(op, kind))
            if type(op) in BOUNDARY:
                self.sign("boundary", left, right, (old, BOUNDARY[type(op)]))
            self.sign("comparison", left, right, (old, FLIP[type(op)]))
        self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        words = any(isinstance(one, ast.JoinedStr) or _is_word(one) for one in (node.left, node.right))
        types = isinstance(node.op, ast.BitOr) and any(map(_is_type, (node.left, node.right)))
        if not words and not types:
            self.sign("arithmetic", node.left, node.right, ARITHMETIC[type(node.op)])
        self.generic_visit(node)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        if not isinstance(node.value, ast.JoinedStr) and not _is_word(node.value):
            self.sign("arithmetic", node.target, node.value, ARITHMETIC[type(node.op)])
        self.generic_visit(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        mine, other = (" and ", " or ") if isinstance(node.op, ast.And) else (" or ", " and ")
        parts = [f"({self.text(one)})" for one in node.values]
        self.change("boolean", node, f"({other.join(parts)})")
        for place in range(len(parts)):
            self.change("guard dropped", node, f"({mine.join(parts[:place] + parts[place + 1 :])})")
        self.generic_visit(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        if isinstance(node.op, ast.Not | ast.USub | ast.Invert):
            kind = "boolean" if isinstance(node.op, ast.Not) else "arithmetic"
            self.change(kind, node, f"({self.text(node.operand)})")
        self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        if isinstance(node.value, bool):
            self.change("constant", node, str(not node.value))
        elif isinstance(node.value, int | float):
            self.change("constant", node, repr(node.value + 1))
            self.change("constant", node, f"({node.value - 1!r})")

    def visit_If(self, node: ast.If | ast.While | ast.IfExp) -> None:
        self.change("boolean", node.test, f"(not ({self.text(node.test)}))")
        if isinstance(node, ast.If) and not any(isinstance(one, ast.NamedExpr) for one in ast.walk(node.test)):
            self.change("guard dropped", node.test, "False")
        self.generic_visit(node)

    visit_While = visit_IfExp = visit_If

    def visit_comprehension(self, node: ast.comprehension) -> None:
        for test in node.ifs:
            self.change("guard dropped", test, "True")
        self.generic_visit(node)

    def visit_Raise(self, node: ast.Raise) -> None:
        self.change("guard dropped", node, "pass")
        if node.exc and isinstance(node.cause, ast.Constant):
            self.change("context kept", node, f"raise {self.text(node.exc)}")

    def visit_Expr(self, node: ast.Expr) -> None:
        if isinstance(node.value, ast.Call):
            self.change("call removed", node, "pass")
            self.generic_visit(node.value)
        elif not isinstance(node.value, ast.Constant):
            self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if name in TWINS:
            self.change("arithmetic", node.func, self.text(node.func)[: -len(name)] + TWINS[name])
        if name in PASSES_ON:
            passed = ", ".join(self.text(one) for one in node.args[1:])
            self.change("call removed", node, f"{self.text(node.args[0])}({passed})")
        elif _wraps(node) and name not in NOT_REMOVED and not name[:1].isupper():
            self.change("call removed", node, f"({self.text(node.args[0])})")
        for keyword in node.keywords:
            if keyword.arg is not None and not name[:1].isupper():
                left = [self.text(one) for one in (*node.args, *node.keywords) if one is not keyword]
                self.change("argument dropped", node, f"{self.text(node.func)}({', '.join(left)})")
        self.generic_visit(node)

    def visit_With(self, node: ast.With) -> None:
        for item in node.items:
            if item.optional_vars is None:
                self.change("call removed", item.context_expr, "__import__('contextlib').nullcontext()")
        self.generic_visit(node)


SIGNS = {
    ast.LtE: "<=", ast.Lt: "<", ast.GtE: ">=", ast.Gt: ">", ast.Eq: "==", ast.NotEq: "!=",
    ast.IsNot: "is not", ast.Is: "is", ast.NotIn: "not in", ast.In: "in",
}  # fmt: skip


NAMES = frozenset({"id", "attr", "arg", "name", "asname", "module", "names", "rest", "kwd_attrs"})
LEFT_OUT = frozenset({"annotation", "returns", "type_params", "type_comment", "decorator_list"})


def shape_of(node: ast.AST) -> str:
    """A short hash of a statement without its names, texts, annotations and docstring."""
    return sha256(_shape(node).encode()).hexdigest()[:12]


def _shape(value: object) -> str:
    if isinstance(value, list):
        return f"[{' '.join(map(_shape, value))}]"
    if isinstance(value, ast.Constant):
        return "text" if isinstance(value.value, str) else repr(value.value)
    if not isinstance(value, ast.AST):
        return repr(value)
    parts = {name: part for name, part in ast.iter_fields(value) if name not in NAMES | LEFT_OUT}
    if isinstance(value, ast.FunctionDef | ast.ClassDef) and ast.get_docstring(value) is not None:
        parts["body"] = value.body[1:]
    return f"({type(value).__name__} {' '.join(map(_shape, parts.values()))})"


def mutants(source: str, module: str) -> list[Mutant]:
    """Every mutant of a source, in the order of its lines; a few cannot be compiled."""
    encoded, found, seen, numbers = source.encode(), [], set(), Counter[str]()
    changes = Changes(encoded)
    for function, shape, kind, line, start, end, text in sorted(changes.found, key=lambda change: change[4:6]):
        first, last = _lines(encoded, start, end)
        before, after = encoded[first:last], encoded[first:start] + text.encode() + encoded[end:last]
        mutant = Mutant(module, function, shape, kind, line, start, end, text, _flat(before), _flat(after))
        if mutant.before == mutant.after or (start, end, text) in seen:
            continue
        seen.add((start, end, text))
        found.append(replace(mutant, number=numbers[mutant.key]))
        numbers[mutant.key] += 1
    return found


def _lines(source: bytes, start: int, end: int) -> tuple[int, int]:
    """Where the lines begin and end that hold a place."""
    last = source.find(b"\n", end)
    return source.rfind(b"\n", 0, start) + 1, len(source) if last < 0 else last


def _flat(text: bytes) -> str:
    return " ".join(text.decode().split())


def compiles(source: bytes) -> bool:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            compile(source, "mutant", "exec")
        except (SyntaxError, ValueError):
            return False
    return True


def _wraps(call: ast.Call) -> bool:
    """Whether a call is of one thing, which may stand in its place."""
    return len(call.args) == 1 and not call.keywords and not isinstance(call.args[0], ast.Starred | ast.GeneratorExp)


def _is_word(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _is_type(node: ast.expr) -> bool:
    name = node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")
    return name[:1].isupper() or (isinstance(node, ast.Constant) and node.value is None)
