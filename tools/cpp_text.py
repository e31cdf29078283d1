"""Reads C++ as text: comments, strings, includes, braces. For tools/tidy.py, which needs shapes.

Written for formatted code (clang-format, Google style): one declaration starts on one line. Never
parses templates, macros or preprocessor conditions; where that matters, a shape is left out rather
than guessed.
"""
import re

_TOKENS = re.compile(
    r"//[^\n]*|/\*.*?\*/"
    r'|R"(?P<d>[^()\\ ]{0,16})\(.*?\)(?P=d)"|"(?:\\.|[^"\\\n])*"'
    r"|(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+'", re.S)
_INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^">]+)[">]', re.M)
_SCOPE = re.compile(r"\b(namespace|class|struct|union|enum|extern)\b")
_DECLARES = re.compile(r"^(?:template\b.*|(?:enum )?(?:class|struct|union|enum)\b.*|.*\w\(.*)")


def _blank(match):
    text = match.group(0)
    if text.startswith(("//", "/*")):
        return re.sub(r"[^\n]", " ", text)
    return '"' + re.sub(r"[^\n]", " ", text[1:-1]) + '"' if len(text) > 1 else text


def without_comments_and_strings(text):
    """The same text with the same lines, and blanks for comments and the contents of literals."""
    return _TOKENS.sub(_blank, text)


def lines_of_raw_strings(text):
    """The numbers of the lines that hold part of a raw string, which no formatter may break."""
    lines = set()
    for match in _TOKENS.finditer(text):
        if match.group(0).startswith("R"):
            first = text.count("\n", 0, match.start()) + 1
            lines.update(range(first, first + match.group(0).count("\n") + 1))
    return lines


def includes(text):
    """Yields (line, '<' or '"', header)."""
    for match in _INCLUDE.finditer(text):
        yield text.count("\n", 0, match.start(1)) + 1, match.group(1), match.group(2)


def functions(text):
    """Yields (name, first line, last line) of each function with a body, lambdas included."""
    code = re.sub(r"^[ \t]*#(?:[^\n\\]|\\.|\\\n)*", lambda m: re.sub(r"[^\n]", " ", m.group(0)),
                  without_comments_and_strings(text), flags=re.M)
    depth_of_body = None
    depth, start = 0, 0
    for match in re.finditer(r"[{};]", code):
        at = match.start()
        if match.group(0) == "{":
            header = code[start:at]
            if depth_of_body is None and "(" in header and not _is_scope(header):
                depth_of_body = depth
                first = code.count("\n", 0, at - len(header.lstrip())) + 1
                name = re.search(r"([\w~:]+|operator\S+)\s*\(", header)
                opened = (name.group(1) if name else "a function", first)
            depth += 1
        elif match.group(0) == "}":
            depth -= 1
            # Braces in a constructor's list are followed by more of it, or by the body.
            if depth_of_body == depth and not re.match(r"\s*[{,]", code[at + 1:]):
                depth_of_body = None
                yield opened[0], opened[1], code.count("\n", 0, at) + 1
        start = at + 1


def _is_scope(header):
    """Whether `header {` opens a namespace, a type or an initialiser rather than a function."""
    stripped = re.sub(r"^\s*(public|private|protected)\s*:", "", header)
    stripped = re.sub(r"\btemplate\s*<[^{]*>\s*(?=class|struct)", "", stripped).lstrip()
    returns = re.search(r"\)\s*(const|noexcept|override|->|$)", stripped.rstrip())
    if _SCOPE.match(stripped) and not returns:
        return True
    return bool(re.search(r"=\s*$", stripped.rstrip()))


def undocumented(text):
    """Yields (line, declaration) of what a header promises without a comment above it.

    Looks at namespace scope and at public members. A declaration directly below another one, with
    no blank line between, shares its comment. Constructors, destructors, operators, one-line
    definitions, deleted, friend and forward declarations need none.
    """
    code = without_comments_and_strings(text).splitlines()
    lines = text.splitlines()
    scopes, documented, statement = [], False, ""
    for number, line in enumerate(code, 1):
        stripped = line.strip()
        raw = lines[number - 1].strip()
        if not statement:
            if not raw:
                documented = False
            elif raw.startswith(("//", "/*", "*")) or not stripped:
                documented = True
            elif stripped.startswith("#"):
                continue
            elif re.fullmatch(r"(public|private|protected):", stripped):
                scopes[-1] = stripped[:-1]
                documented = False
            elif _visible(scopes) and _needs_comment(_declaration(code, number), scopes):
                if not documented and "//" not in raw:
                    yield number, stripped[:60]
                documented = True
        statement = _walk(line, statement, scopes)


def _declaration(code, number):
    """The line with this number, or the one below it where this one is only its template."""
    line = code[number - 1].strip()
    alone = re.fullmatch(r"template\s*<[^;{]*>", line) and number < len(code)
    return code[number].strip() if alone else line


def _visible(scopes):
    return all(scope in ("namespace", "public") for scope in scopes)


def _needs_comment(line, scopes):
    if re.match(r"(namespace|extern|using|typedef|friend|static_assert|LW_|constexpr)\b|}", line):
        return False
    if re.match(r"(class|struct|enum|union)\b[^{]*;", line):
        return False
    if re.search(r"=\s*(delete|default);|\boperator\b|~\w+\(|\).*\{.*\}$", line):
        return False
    if not _DECLARES.match(line):
        return False
    constructor = re.match(r"(?:explicit\s+|constexpr\s+)*([A-Z]\w*)\(", line)
    return not (constructor and scopes and scopes[-1] == "public")


def _walk(line, statement, scopes):
    """Follows braces through one line; returns the statement that is still open at its end."""
    if line.lstrip().startswith("#"):
        return statement
    for char in line:
        if char == "{":
            head = statement.strip()
            if re.search(r"\bnamespace\b|^extern\b", head):
                scopes.append("namespace")
            elif re.search(r"\benum\b", head) or not _SCOPE.search(head) or "(" in head:
                scopes.append("body")
            else:
                scopes.append("private" if re.search(r"\bclass\b", head) else "public")
            statement = ""
        elif char == "}":
            if scopes:
                scopes.pop()
            statement = ""
        elif char == ";":
            statement = ""
        else:
            statement += char
    statement = re.sub(r"^\s*(public|private|protected):", "", statement)
    return statement + " " if statement.strip() else ""
