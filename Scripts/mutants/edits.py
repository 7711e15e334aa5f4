"""Finds the single edits of a Swift file, and writes the file with some of them behind a switch.

An edit replaces one or more ranges of bytes. `mutant(N)` is true when edit N is on:

    a < b                 (mutant(7) ? a <= b : a < b)
    if isEmpty {          if (mutant(8) != (isEmpty)) {
    log.append(entry)     if !mutant(9) { log.append(entry) }

The grammar of tree-sitter gives Swift's operators a precedence that is not theirs, so chains of operators are taken
apart and put together again here.
"""
import re

import tree_sitter
import tree_sitter_swift

PARSER = tree_sitter.Parser(tree_sitter.Language(tree_sitter_swift.language()))

CHAINS = {
    "additive_expression", "multiplicative_expression", "comparison_expression", "equality_expression",
    "conjunction_expression", "disjunction_expression", "nil_coalescing_expression", "infix_expression",
    "range_expression", "bitwise_operation", "as_expression", "check_expression", "ternary_expression",
}
PRECEDENCE = {
    **dict.fromkeys(["<<", ">>", "&<<", "&>>"], 160), **dict.fromkeys(["*", "/", "%", "&", "&*"], 150),
    **dict.fromkeys(["+", "-", "|", "^", "&+", "&-"], 140), **dict.fromkeys(["..<", "..."], 135),
    **dict.fromkeys(["as", "as?", "as!", "is"], 132), "??": 131,
    **dict.fromkeys(["<", "<=", ">", ">=", "==", "!=", "===", "!==", "~="], 130), "&&": 120, "||": 110,
}
MOVED = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==", "===": "!==", "!==": "===", "&&": "||", "||": "&&"}
FLIPPED = {"+": "-", "-": "+", "&+": "&-", "&-": "&+"}
# Nothing behind which an edit could be: types, patterns, declarations without code.
SKIPPED = {
    "attribute", "import_declaration", "switch_pattern", "pattern", "enum_entry", "type_annotation", "type_parameters",
    "comment", "multiline_comment", "macro_invocation", "availability_condition", "protocol_body", "ERROR",
}
# Calls that change speed, memory or checks of the program itself, and nothing that a caller sees.
UNSEEN = re.compile(r"\b(reserveCapacity|deallocate|deinitialize|precondition|assert|preconditionFailure|fatalError|print|"
                    r"withExtendedLifetime|super\.init|self\.init)\b")


class Edit:
    """One single edit: its kind, what it replaces, and by what."""

    def __init__(self, kind, line, old, new, parts):
        self.kind, self.line, self.old, self.new = kind, line, old, new
        # Each: first byte, byte after the last, the text before the mutated form, its end, see `Source.render`.
        self.parts = parts
        self.key = self.name = self.file = self.target = self.text = None


class Source:
    """A Swift file and its candidates."""

    def __init__(self, path):
        with open(path, "rb") as file:
            self.bytes = file.read()
        self.lines = self.bytes.decode().split("\n")
        self.edits, self.done = [], set()
        self.conditional = self._conditional_lines()
        self._walk(PARSER.parse(self.bytes).root_node)

    def _conditional_lines(self):
        """The lines between #if and #endif: only one of their variants is compiled."""
        lines, depth = set(), 0
        for number, line in enumerate(self.lines):
            word = line.strip()
            if word.startswith("#if"):
                depth += 1
            if depth:
                lines.add(number)
            if word.startswith("#endif"):
                depth -= 1
        return lines

    def _text(self, start, end):
        return self.bytes[start:end].decode()

    def _add(self, kind, node, old, new, parts):
        row = node.start_point[0]
        if row in self.conditional:
            return
        squeezed = [re.sub(r"\s+", " ", text) for text in (old, new)]
        self.edits.append(Edit(kind, row + 1, *squeezed, parts))

    # Finding

    def _walk(self, node):
        kind = node.type
        if kind in SKIPPED:
            return
        if kind in CHAINS and node.id not in self.done:
            self._chain(node)
        elif kind in ("if_statement", "guard_statement", "while_statement", "repeat_while_statement"):
            self._conditions(node)
        elif kind == "statements":
            self._statements(node)
        elif kind == "value_arguments":
            self._arguments(node)
        elif kind in ("switch_entry", "where_clause"):
            self._where(node)
        elif kind == "integer_literal":
            self._integer(node)
        elif kind == "boolean_literal":
            text = self._text(node.start_byte, node.end_byte)
            other = "false" if text == "true" else "true"
            self._add("constant", node, text, other, [(node.start_byte, node.end_byte, "(mutant(#) != ", None, ")")])
        elif kind == "function_declaration":
            self._function(node)
        for index, child in enumerate(node.children):
            # What follows `=` in a list of parameters is a default argument, compiled into the caller.
            if node.field_name_for_child(index) == "default_value":
                continue
            self._walk(child)

    def _operands(self, node, tokens):
        """Appends the operands and operators of a chain, in the order of the text."""
        self.done.add(node.id)
        for index, child in enumerate(node.children):
            field = node.field_name_for_child(index)
            if node.type == "ternary_expression" and field == "if_true":
                tokens.append(("atom", child))
            elif child.type in CHAINS:
                self._operands(child, tokens)
            elif child.type in ("try_expression", "await_expression") and child.start_byte != node.start_byte:
                tokens.append(("atom", child))
            elif field in ("op", "operator") or child.type in ("as_operator", "custom_operator") or (
                not child.is_named and not field):
                tokens.append(("operator", child))
            elif child.type in ("comment", "multiline_comment"):
                continue
            else:
                tokens.append(("atom", child))

    def _chain(self, node):
        tokens = []
        self._operands(node, tokens)
        if any(kind == "operator" and self._text(token.start_byte, token.end_byte) not in (*PRECEDENCE, "?", ":")
               for kind, token in tokens):
            return
        self.position, self.tokens = 0, tokens
        try:
            self._ternary(node)
        except (IndexError, ValueError):
            return

    def _peek(self):
        if self.position < len(self.tokens):
            kind, token = self.tokens[self.position]
            if kind == "operator":
                return self._text(token.start_byte, token.end_byte)
        return None

    def _ternary(self, node):
        condition = self._binary(0)
        if self._peek() != "?":
            return condition
        self._negated(node, *condition)
        self.position += 1
        self.position += 1  # An atom of its own, walked by itself.
        if self._peek() != ":":
            raise ValueError("not a ternary expression")
        self.position += 1
        return condition[0], self._ternary(node)[1]

    def _binary(self, least):
        kind, token = self.tokens[self.position]
        if kind != "atom":
            raise ValueError("an operand is missing")
        self.position += 1
        start, end = token.start_byte, token.end_byte
        while (name := self._peek()) in PRECEDENCE and PRECEDENCE[name] >= least:
            operator = self.tokens[self.position][1]
            self.position += 1
            right_start, right_end = self._binary(PRECEDENCE[name] + (0 if name == "??" else 1))
            self._operator(operator, name, start, end, right_start, right_end)
            end = right_end
        return start, end

    def _operator(self, node, name, start, end, right_start, right_end):
        left, right = self._text(start, end), self._text(right_start, right_end)
        between = self._text(end, node.start_byte), self._text(node.end_byte, right_start)

        def replace(kind, new):
            prefix, rest = self._effects(left)
            mutated = rest + between[0] + new + between[1] + right
            self._add(kind, node, f"{left} {name} {right}", f"{left} {new} {right}",
                      [(start + len(prefix.encode()), right_end, "(mutant(#) ? (" + mutated + ") : ", None, ")")])

        if name in MOVED:
            replace("logic" if name in ("&&", "||") else "bound", MOVED[name])
        elif name in FLIPPED and re.fullmatch(r"[0-9_]+", right):
            replace("bound", FLIPPED[name])
        elif name in ("..<", "...") and not re.search(r"[iI]ndex|\.end|\.upper|\.lower", right):
            parts = [(right_start, right_end, f"(mutant(#) ? ({right}) - 1 : ", None, ")")]
            self._add("bound", node, f"{left} {name} {right}", f"{left} {name} {right} - 1", parts)

    @staticmethod
    def _effects(text):
        """Splits `try` and `await` off; they cover what is to their right."""
        match = re.match(r"((try|await)\s+)*", text)
        return match.group(0), text[match.end():]

    def _negated(self, node, start, end):
        text = self._text(start, end)
        prefix, rest = self._effects(text)
        if rest.startswith(("try?", "try!")):
            return
        start += len(prefix.encode())
        self._add("condition", node, text, f"!({text})", [(start, end, "(mutant(#) != (", None, "))")])

    def _conditions(self, node):
        """The conditions of a statement, which commas separate."""
        clause, clauses = [], []
        for index, child in enumerate(node.children):
            if child.type in ("if", "guard", "while"):
                continue
            if child.type in ("{", "else") or child.type == "statements":
                break
            if child.type == ",":
                clauses.append(clause)
                clause = []
            elif child.type not in ("comment", "multiline_comment"):
                clause.append(child)
        if node.type == "repeat_while_statement":
            clause = [child for index, child in enumerate(node.children) if node.field_name_for_child(index) == "condition"]
            clauses = []
        clauses.append(clause)
        for clause in clauses:
            if not clause:
                continue
            first, last = clause[0], clause[-1]
            if first.type == "value_binding_pattern":
                names = [child.type for child in clause]
                if "=" not in names:
                    continue
                value = clause[names.index("=") + 1]
                text = self._text(value.start_byte, last.end_byte)
                prefix, rest = self._effects(text)
                if rest.startswith("try!"):
                    continue
                start = value.start_byte + len(prefix.encode())
                self._add("condition", value, text, "nil", [(start, last.end_byte, "(mutant(#) ? nil : (", None, "))")])
            elif len(clause) == 1 and first.is_named and first.type != "availability_condition":
                text = self._text(first.start_byte, first.end_byte)
                # `a == b` alone: the moved bound is the same edit.
                if first.type != "equality_expression" or "&&" in text or "||" in text:
                    self._negated(first, first.start_byte, first.end_byte)

    def _where(self, node):
        children = node.children
        for index, child in enumerate(children):
            if child.type == "where_keyword" and index + 1 < len(children):
                condition = children[index + 1]
                if condition.type != "equality_expression":
                    self._negated(condition, condition.start_byte, condition.end_byte)

    def _is_value(self, statement):
        """Whether a statement is alone in its block, and with that possibly the value of the block."""
        block = statement.parent
        if block is None or block.type != "statements":
            return True
        if len([child for child in block.named_children if "comment" not in child.type]) > 1:
            return False
        owner = block.parent
        if owner.type == "function_body":
            return any(child.type == "->" for child in owner.parent.children)
        if owner.type in ("if_statement", "switch_statement"):
            return self._is_value(owner)
        if owner.type == "switch_entry":
            return self._is_value(owner.parent)
        return owner.type in ("lambda_literal", "computed_property", "computed_getter", "getter", "do_statement", "catch_block")

    def _ancestor(self, node, kinds):
        while node is not None and node.type not in kinds:
            node = node.parent
        return node

    def _statements(self, node):
        for statement in node.named_children:
            text = self._text(statement.start_byte, statement.end_byte)
            row = statement.start_point[0]
            if statement.type == "assignment":
                operator = next((child.type for child in statement.children if child.type in ("=", "+=", "-=", "*=", "/=", "|=", "&=", "^=")), "=")
                target = self._text(statement.children[0].start_byte, statement.children[0].end_byte)
                if operator == "=":
                    if target == "_" or self._ancestor(statement, ("init_declaration", "deinit_declaration")):
                        continue
                    function = self._ancestor(statement, ("function_declaration", "computed_property", "subscript_declaration"))
                    if function is not None and re.fullmatch(r"\w+", target):
                        declared = rf"\b(let|var)\s+{target}\s*(:[^=\n{{]+)?$"
                        if re.search(declared, self._text(function.start_byte, function.end_byte), re.M):
                            continue
            elif statement.type in ("call_expression", "try_expression", "await_expression"):
                # The grammar takes `defer { … }` for a call; behind a switch it would run at once.
                if text.startswith("defer") or UNSEEN.search(text.split("(")[0] + "(") or text.startswith(("try?", "try!")) or self._is_value(statement):
                    continue
                # A call with a long closure is a block more than a statement.
                if text.count("\n") > 6:
                    continue
            else:
                continue
            parts = [(statement.start_byte, statement.end_byte, "if !mutant(#) { ", None, " }")]
            self._add("statement", statement, text, "", parts)

    def _arguments(self, node):
        arguments = [child for child in node.named_children if child.type == "value_argument"]
        function = self._ancestor(node, ("function_declaration", "init_declaration"))
        types = {}
        if function is not None:
            header = self._text(function.start_byte, function.end_byte).split("{")[0]
            types = dict(re.findall(r"(\w+)\s*:\s*(?:inout |borrowing |consuming )?([\w.\[\]<>?: ]+?)\s*(?=[,)=])", header))

        def parts(argument):
            label = next((child for child in argument.children if child.type == "value_argument_label"), None)
            value = argument.child_by_field_name("value")
            label = self._text(label.start_byte, label.end_byte) if label else ""
            return label, value

        for first, second in zip(arguments, arguments[1:]):
            (label, left), (other_label, right) = parts(first), parts(second)
            if left is None or right is None:
                continue
            if not all(value.type in ("simple_identifier", "navigation_expression", "integer_literal") for value in (left, right)):
                continue
            old, new = (self._text(value.start_byte, value.end_byte) for value in (left, right))
            if old == new:
                continue
            same_type = old in types and types[old] == types.get(new)
            literals = left.type == right.type == "integer_literal"
            same_member = old.split(".")[-1] == new.split(".")[-1] and "." in old and "." in new
            no_labels = not label and not other_label and left.type == right.type == "simple_identifier"
            if same_type or literals or same_member or (no_labels and (old not in types or new not in types)):
                swapped = [
                    (left.start_byte, left.end_byte, f"(mutant(#) ? {new} : ", None, ")"),
                    (right.start_byte, right.end_byte, f"(mutant(#) ? {old} : ", None, ")"),
                ]
                text = self._text(first.start_byte, second.end_byte)
                label, other_label = (f"{name}: " if name else "" for name in (label, other_label))
                self._add("arguments", first, text, f"{label}{new}, {other_label}{old}", swapped)

    def _integer(self, node):
        parent = node.parent
        if parent is None or parent.type in ("navigation_suffix", "enum_entry", "directive"):
            return
        text = self._text(node.start_byte, node.end_byte)
        # The result of a comparison: only its sign is used.
        outer = parent.parent if parent.type == "prefix_expression" else parent
        if text == "1" and outer.type in ("ternary_expression", "control_transfer_statement"):
            return
        try:
            new = str(int(text.replace("_", ""), 0) + 1)
        except ValueError:
            return
        self._add("constant", node, text, new, [(node.start_byte, node.end_byte, f"(mutant(#) ? {new} : ", None, ")")])

    def _function(self, node):
        body = node.child_by_field_name("body")
        arrow = next((child for child in node.children if child.type == "->"), None)
        if body is None or arrow is None:
            return
        result = self._text(arrow.end_byte, body.start_byte).split(" where ")[0].strip()
        if result.endswith("?"):
            early = "nil"
        elif re.fullmatch(r"\[[^:\[\]]*\]", result):
            early = "[]"
        elif result == "Bool":
            early = None
        else:
            return
        block = next((child for child in body.named_children if child.type == "statements"), None)
        if block is None:
            return
        statements = [child for child in block.named_children if "comment" not in child.type]
        returns = statements[-1].type == "control_transfer_statement" or len(statements) > 1
        if early and returns and self._text(statements[0].start_byte, statements[0].end_byte) != f"return {early}":
            name = self._text(node.start_byte, body.start_byte).split("(")[0].split()[-1]
            at = block.start_byte
            self._add("result", node, f"{name}(…)", f"return {early}", [(at, at, f"if mutant(#) {{ return {early} }}; ", "", "")])
        if early is None:
            for statement in statements:
                value = statement.child_by_field_name("result")
                if statement.type == "control_transfer_statement" and value is not None and value.type != "boolean_literal":
                    text = self._text(value.start_byte, statement.end_byte)
                    prefix, rest = self._effects(text)
                    if rest.startswith(("try?", "try!")):
                        continue
                    start = value.start_byte + len(prefix.encode())
                    self._add("result", statement, f"return {text}", f"return !({text})",
                              [(start, statement.end_byte, "(mutant(#) != (", None, "))")])

    # Writing

    def render(self, numbered):
        """Returns the file with edits behind the switch.

        Comments mark where each begins and ends, so that an error of the compiler leads back to its edit.
        numbered: pairs of a number and an edit.
        """
        parts = []
        for number, edit in numbered:
            for start, end, before, _, after in edit.parts:
                parts.append((start, end, number, before.replace("mutant(#)", f"mutant({number})"), after))
        # Outer ranges first; of equal ranges statements, then conditions, are outside.
        rank = lambda part: (part[0], -part[1], 0 if part[3].startswith("if ") else 1 if "!=" in part[3] else 2, part[2])
        parts.sort(key=rank)

        def write(start, end, index):
            text, at = b"", start
            while index < len(parts) and parts[index][0] <= end and parts[index][1] <= end:
                first, last, number, before, after = parts[index]
                if first < at:
                    raise ValueError("edits overlap")
                inner, index = write(first, last, index + 1) if last > first else (b"", index + 1)
                # The compiler takes a comment for a space, which says what kind of operator stands beside it.
                bracket = "(" if before.startswith("(") else ""
                opened = f"{bracket}/*<{number}*/{before.removeprefix(bracket)}"
                closed = f"{after[:-1]}/*{number}>*/)" if bracket else f"{after}/*{number}>*/"
                text += self.bytes[at:first] + opened.encode() + inner + closed.encode()
                at = last
            return text + self.bytes[at:end], index

        text, index = write(0, len(self.bytes), 0)
        if index != len(parts):
            raise ValueError("edits overlap")
        return b"import DAOMutants\n" + text
