#!/usr/bin/env python3
"""Checks the rules of this tree that neither compiler nor formatter knows.

`tidy.py [ROOT]` prints one line a violation and exits 1 if there is any. Fast and without
dependencies, so that it runs before anything is built. C++ is read by tools/cpp_text.py, which
knows comments, strings and braces, not the language: a rule that needs more than that does not
belong here. Never changes a file.
"""
import ast
import pathlib
import re
import subprocess
import sys

import cpp_text

COLUMNS_MAX = 100
FILE_LINES_MAX = 800
FUNCTION_LINES_MAX = 70
SUBJECT_COLUMNS_MAX = 60

# Which folders of src/ a folder includes directly. What these include is allowed as well.
ARROWS = {
    "base": [], "model": ["base"],
    "codec": ["model"], "state": ["model"], "lance": ["model"],
    "commit": ["state", "lance"], "source": ["codec"],
    "pipeline": ["commit", "source"],
    "serve": ["pipeline"], "capi": ["pipeline"],
    "cli": ["pipeline", "serve"],  # `run` starts the status page beside the pipeline
}
# These see no I/O, no clock and no thread. (RocksDB, which keeps a key index that does not fit into
# memory, is its own I/O.)
PURE = {"model", "codec", "state"}
IMPURE_HEADERS = re.compile(
    r"^(fstream|iostream|filesystem|chrono|thread|unistd\.h|fcntl\.h|sys/.*|netdb\.h|poll\.h)$")

# The one folder of src/ that a third-party header may appear in.
THIRD_PARTY = {
    "xxhash.h": "base", "fmt/": "base", "nlohmann/": "base", "emmintrin.h": "base",
    "simdjson.h": "codec", "avro": "codec",
    "rocksdb/": "state",
    "zlib.h": "source", "zstd.h": "source",
    "libpq-fe.h": "source", "libpq/": "source", "librdkafka/": "source",
    "yaml-cpp/": "pipeline",
    "httplib.h": "serve",
    "CLI/": "cli", "spdlog/": "cli",
    "jni.h": "capi",
}
SYSTEM_HEADER = re.compile(
    r"^([a-z0-9_]+|(sys|netinet|arpa|linux|net)/[a-z0-9_]+\.h"
    r"|(unistd|fcntl|dlfcn|poll|netdb|signal|pthread|strings|dirent|termios|std[a-z]+|string|errno"
    r"|limits|math|time|assert|ctype|float|inttypes|locale|setjmp|wchar|execinfo)\.h)$")

FORBIDDEN_FILE = re.compile(r"(utils?|helpers?|common)([._/-]|$)", re.I)
FORBIDDEN_TYPE = re.compile(
    r"\b(?:class|struct|enum(?: class)?|union|trait|using|concept|type)\s+"
    r"(\w*(?:Manager|Handler|Processor|Helper|Util)s?)\b")
LANCE_OWN_WORDS = {"CommitHandler"}  # the trait of the lance crate that the shim implements
FORBIDDEN_CODE = [
    (re.compile(r"\bstd::(cout|cerr|clog)\b|(?<![\w.>])f?printf\s*\("),
     "prints; only cli talks to the terminal"),
    (re.compile(r"\bthrow\b"), "throws; return an Error"),
    (re.compile(r"\busing\s+namespace\b"), "using namespace"),
]
# Spelled in halves: this file is checked as well.
MACHINE_PATHS = ("/wo" + "rk/", "/ro" + "ot/", "/home/[a-z]")
REGISTRY_HOSTS = ("crates" + ".io", "pypi" + ".org", "python" + "hosted.org", "maven" + ".org",
                  "repo.maven" + ".apache.org", "npm" + "js.org", "proxy.go" + "lang.org",
                  "deb.debian" + ".org")
MACHINE = re.compile(r"(?<![\w.])(%s)|%s" % (
    "|".join(MACHINE_PATHS), "|".join(map(re.escape, REGISTRY_HOSTS))))

TEXT = {".h", ".cc", ".c", ".py", ".rs", ".sh", ".java", ".md", ".txt", ".cmake", ".json", ".xml",
        ".yaml", ".yml", ".toml", ".properties", ".case", ".sql", ""}
CODE = {".h", ".cc", ".c", ".py", ".rs", ".sh", ".java"}
LINE_LIMITED = {".h", ".cc", ".c", ".py", ".java"}  # rustfmt leaves comments as they are
CPP = {".h", ".cc"}
# Brought from outside and kept as they are.
AS_GIVEN = ("test/cases/", "test/testdata/", "fuzz/corpus/")


def git(root, *args):
    command = ["git", "-c", "safe.directory=*", "-C", str(root), *args]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


class Tree:
    """The files of a checkout and what was found wrong in them."""

    def __init__(self, root):
        self.root = root
        self.files = sorted(f for f in self._listed() if (root / f).is_file())
        self.violations = []
        self._texts = {}

    def _listed(self):
        if (self.root / ".git").exists():
            return git(self.root, "ls-files", "-co", "--exclude-standard", "-z").split("\0")[:-1]
        return [str(p.relative_to(self.root)) for p in self.root.rglob("*")]

    def read(self, file):
        if file not in self._texts:
            self._texts[file] = (self.root / file).read_text(encoding="utf-8", errors="replace")
        return self._texts[file]

    def of(self, suffixes):
        return [f for f in self.files if pathlib.PurePath(f).suffix in suffixes]

    def code(self, suffixes):
        return [f for f in self.of(suffixes) if not f.startswith(AS_GIVEN)]

    def report(self, file, line, message):
        self.violations.append(f"{file}:{line}: {message}")


def reachable(folder):
    """All folders that `folder` may include, itself among them."""
    found, open_folders = {folder}, [folder]
    while open_folders:
        for below in ARROWS[open_folders.pop()]:
            if below not in found:
                found.add(below)
                open_folders.append(below)
    return found


def is_test(file):
    name = file.rsplit("/", 1)[-1]
    return (name.endswith("_test.cc") or name.startswith("test_")
            or file.startswith(("test/", "fuzz/", "bench/")))


def check_includes(tree):
    for file in tree.code(CPP):
        parts = file.split("/")
        folder = parts[1] if parts[0] == "src" and len(parts) > 2 else None
        if folder and folder not in ARROWS:
            tree.report(file, 1, f"src/{folder} has no row in the arrows of tools/tidy.py")
            continue
        for number, quote, target in cpp_text.includes(tree.read(file)):
            if quote == '"':
                check_own_include(tree, file, folder, number, target)
            else:
                check_system_include(tree, file, folder, number, target)


def check_own_include(tree, file, folder, number, target):
    top = target.split("/")[0]
    if file.startswith("include/"):
        if top != "lastword":
            tree.report(file, number, f'a public header includes no "{target}"')
    elif re.search(r"(^|/)oracle[^/]*$", file) and top in ("state", "commit"):
        tree.report(file, number, f'the oracle shares nothing with what it judges: "{target}"')
    elif folder is None or top == "lastword" or (top == "test" and is_test(file)):
        return
    elif "/" not in target:
        tree.report(file, number, f'"{target}": write the path from src/')
    elif top not in reachable(folder):
        tree.report(file, number, f'arrow: src/{folder} does not include "{target}"')


def check_system_include(tree, file, folder, number, target):
    if SYSTEM_HEADER.match(target):
        if folder in PURE and not is_test(file) and IMPURE_HEADERS.match(target):
            tree.report(file, number, f"src/{folder} sees no I/O, clock or thread: <{target}>")
        return
    if file.startswith("include/"):
        tree.report(file, number, f"a public header includes no <{target}>")
    if is_test(file) or folder is None:
        return
    home = next((f for prefix, f in THIRD_PARTY.items() if target.startswith(prefix)), None)
    if home is None:
        tree.report(file, number, f"<{target}> has no folder in THIRD_PARTY of tools/tidy.py")
    elif home != folder:
        tree.report(file, number, f"<{target}> appears in src/{home} only")


def check_sizes(tree):
    for file in tree.code(CODE):
        lines = tree.read(file).splitlines()
        if len(lines) > FILE_LINES_MAX:
            tree.report(file, len(lines), f"{len(lines)} lines, at most {FILE_LINES_MAX}")
        if pathlib.PurePath(file).suffix in LINE_LIMITED:
            literal = cpp_text.lines_of_raw_strings(tree.read(file)) if file.endswith(".cc") else ()
            for number, line in enumerate(lines, 1):
                if len(line) > COLUMNS_MAX and number not in literal:
                    tree.report(file, number, f"{len(line)} columns, at most {COLUMNS_MAX}")
    for file in tree.code(CPP):
        for name, first, last in cpp_text.functions(tree.read(file)):
            check_function(tree, file, name, first, last)
    for file in tree.code({".py"}):
        for node in ast.walk(ast.parse(tree.read(file))):
            if isinstance(node, ast.FunctionDef):
                check_function(tree, file, node.name, node.lineno, node.end_lineno)


def check_function(tree, file, name, first, last):
    if last - first + 1 > FUNCTION_LINES_MAX:
        lines = last - first + 1
        tree.report(file, first, f"{name} has {lines} lines, at most {FUNCTION_LINES_MAX}")


def check_code(tree):
    for file in tree.code(CPP):
        in_src = file.startswith(("src/", "include/")) and not is_test(file)
        code = cpp_text.without_comments_and_strings(tree.read(file))
        for number, line in enumerate(code.splitlines(), 1):
            for pattern, message in FORBIDDEN_CODE:
                prints = message.startswith("prints")
                allowed = not in_src or (prints and file.startswith("src/cli/"))
                if not allowed and pattern.search(line):
                    tree.report(file, number, message)


def check_words(tree):
    for file in tree.code(CPP | {".rs", ".java"}):
        for number, line in enumerate(tree.read(file).splitlines(), 1):
            for name in FORBIDDEN_TYPE.findall(line):
                if not (name in LANCE_OWN_WORDS and file.startswith("src/lance/")):
                    tree.report(file, number, f"{name}: a type is named for what it is")
    todo = "TO" + "DO"
    for file in tree.code(CODE):
        for number, line in enumerate(tree.read(file).splitlines(), 1):
            if re.search(r"\b(FIX" + "ME|XX" + r"X)\b", line):
                tree.report(file, number, "fix it, or say it in an issue")
            if re.search(rf"\b{todo}\b(?!\([^)]+\):)", line):
                tree.report(file, number, f"{todo} names its condition: {todo}(when …): what")
    for file in tree.files:
        if not file.startswith(AS_GIVEN) and FORBIDDEN_FILE.search(pathlib.PurePath(file).name):
            tree.report(file, 1, "a file is named for its one purpose")


def check_dead(tree):
    included = {t for f in tree.of(CPP | {".c"}) for _, _, t in cpp_text.includes(tree.read(f))}
    for file in tree.of({".h"}):
        names = {file, file.split("/", 1)[-1], pathlib.PurePath(file).name}
        if not names & included:
            tree.report(file, 1, "no file includes it")
    built = set()
    for lists in (f for f in tree.files if pathlib.PurePath(f).name == "CMakeLists.txt"):
        text = re.sub(r"#.*", "", tree.read(lists)).replace("${CMAKE_SOURCE_DIR}/", "/")
        for word in re.findall(r"[^\s()\"]+\.(?:cc|c)\b", text):
            built.add(str(pathlib.PurePath("/", lists).parent / word)[1:])
    for file in tree.code({".cc", ".c"}):
        if file not in built:
            tree.report(file, 1, "no CMakeLists.txt builds it")


def check_machine(tree):
    for file in tree.of(TEXT):
        if file.endswith("Cargo.lock"):
            continue
        for number, line in enumerate(tree.read(file).splitlines(), 1):
            found = MACHINE.search(line)
            if found:
                tree.report(file, number, f"a path or host of one machine: {found.group(0)}")


def check_public(tree):
    for file in tree.code({".h"}):
        if file.startswith("include/lastword/"):
            for number, name in cpp_text.undocumented(tree.read(file)):
                tree.report(file, number, f"no comment above this promise to users: {name}")


def warn_subjects(root):
    """Warns only: a subject cannot be changed once others build on it."""
    if not (root / ".git").exists():
        return
    for line in git(root, "log", "--format=%h %s").splitlines():
        commit, _, subject = line.partition(" ")
        if len(subject) > SUBJECT_COLUMNS_MAX:
            print(f"warning: commit {commit}: subject longer than {SUBJECT_COLUMNS_MAX} columns")


CHECKS = (check_includes, check_sizes, check_code, check_words, check_dead, check_machine,
          check_public)


def violations(root):
    tree = Tree(root)
    for check in CHECKS:
        check(tree)
    return tree.violations


def main():
    here = pathlib.Path(__file__).parent.parent
    root = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else here
    found = violations(root)
    warn_subjects(root)
    for line in found:
        print(line)
    print(f"tidy: {len(found)} violations" if found else "tidy: nothing found")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
