#!/usr/bin/env python3
"""Tests tools/tidy.py with planted violations: each rule finds its own, and stays silent beside it.

Builds small trees in temporary folders, without git. The closing line is "N passed, N failed".
"""
import contextlib
import io
import pathlib
import sys
import tempfile
import unittest

import count_tests
import cpp_text
import tidy

CLEAN = {
    "CMakeLists.txt": "add_subdirectory(src/base)\n",
    "include/lastword/a.h": "// A.\n#include <string>\n/// Says a.\nvoid SayA();\n",
    "src/base/CMakeLists.txt": "lw_module(base SOURCES a.cc)\n",
    "src/base/a.cc": '#include "lastword/a.h"\n#include <vector>\nvoid SayA() {}\n',
}
LATER, BROKEN = "TO" + "DO", "FIX" + "ME"


def found(changes):
    """The violations of the clean tree with some files added or replaced."""
    with tempfile.TemporaryDirectory() as folder:
        for name, text in {**CLEAN, **changes}.items():
            path = pathlib.Path(folder, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return tidy.violations(pathlib.Path(folder))


def body(lines):
    return "int Long() {\n" + "  x();\n" * (lines - 2) + "}\n"


class TidyTest(unittest.TestCase):
    def clean(self, changes):
        self.assertEqual(found(changes), [])

    def planted(self, changes, *words):
        """Exactly one violation, and it says what it is about."""
        lines = found(changes)
        self.assertEqual(len(lines), 1, lines)
        for word in words:
            self.assertIn(word, lines[0])

    def base(self, code, *words):
        self.planted({"src/base/a.cc": '#include "lastword/a.h"\n' + code}, *words)

    def base_clean(self, code):
        self.clean({"src/base/a.cc": '#include "lastword/a.h"\n' + code})

    def test_clean_tree(self):
        self.clean({})

    def folder(self, folder, name, code):
        return {f"src/{folder}/CMakeLists.txt": f"lw_module({folder} SOURCES {name})\n",
                f"src/{folder}/{name}": code}

    def test_arrow_upwards(self):
        model = self.folder("model", "m.h", "// M.\n")
        user = {"src/base/a.cc": '#include "lastword/a.h"\n#include "model/m.h"\n'}
        self.planted({**model, **user}, "src/base/a.cc:2", "arrow", "model/m.h")

    def test_arrow_sideways(self):
        self.planted({**self.folder("codec", "c.h", "// C.\n"),
                      **self.folder("state", "s.cc", '#include "codec/c.h"\n')}, "src/state/s.cc:1")

    def test_arrow_downwards_over_two_folders(self):
        self.clean({**self.folder("model", "m.h", "// M.\n"),
                    **self.folder("pipeline", "p.cc", '#include "model/m.h"\n')})

    def test_only_tests_include_test(self):
        double = {"test/double.h": "// D.\n"}
        self.planted({**double, **self.folder("model", "m.cc", '#include "test/double.h"\n')},
                     "arrow")
        self.clean({**double, **self.folder("model", "m_test.cc", '#include "test/double.h"\n')})

    def test_include_without_folder(self):
        self.planted({"src/base/b.h": "// B.\n",
                      **self.folder("model", "m.cc", '#include "b.h"\n')}, "write the path")

    def test_unknown_folder(self):
        self.planted(self.folder("extra", "e.cc", ""), "no row in the arrows")

    def test_oracle_shares_nothing(self):
        self.planted({"test/CMakeLists.txt": "lw_test(t SOURCES oracle.cc)\n",
                      "test/oracle.cc": '#include "state/law.h"\n',
                      **self.folder("state", "law.h", "// L.\n")}, "oracle")

    def test_third_party_in_its_folder_only(self):
        self.clean(self.folder("codec", "c.cc", "#include <simdjson.h>\n"))
        self.planted(self.folder("model", "m.cc", "#include <simdjson.h>\n"), "src/codec only")
        self.base("#include <boost/any.hpp>\n", "THIRD_PARTY")

    def test_gtest_in_what_tests_share(self):
        code = '#include "base/test_files.h"\n'
        self.clean({"src/base/test_files.h": "#include <gtest/gtest.h>\n",
                    **self.folder("model", "m_test.cc", code)})
        self.base("#include <gtest/gtest.h>\n", "THIRD_PARTY")

    def test_pure_folders_see_no_clock(self):
        self.planted(self.folder("state", "s.cc", "#include <chrono>\n"), "clock")
        self.clean(self.folder("state", "s_test.cc", "#include <chrono>\n"))
        self.clean(self.folder("source", "s.cc", "#include <chrono>\n#include <sys/stat.h>\n"))

    def test_public_header_depends_on_std_only(self):
        text = CLEAN["include/lastword/a.h"]
        self.planted({"include/lastword/a.h": text + "#include <fmt/core.h>\n"}, "public header")
        self.planted({"include/lastword/a.h": text + '#include "base/b.h"\n',
                      "src/base/b.h": "// B.\n"}, "public header")

    def test_columns(self):
        self.base_clean("// " + "x" * 97 + "\n")
        self.base("// " + "x" * 98 + "\n", "101 columns")
        self.base_clean("// " + "→" * 97 + "\n")
        self.base_clean('auto a = R"({"k":"' + "x" * 99 + '"})";\n')
        self.planted({"tools/x.py": "# " + "x" * 99 + "\n"}, "101 columns")

    def test_file_lines(self):
        self.base_clean("\n" * 799)
        self.base("\n" * 800, "801 lines")

    def test_function_lines(self):
        self.base_clean(body(70))
        self.base(body(71), "Long has 71 lines")
        self.base("namespace a {\nclass B {\n" + body(71) + "};\n}  // namespace a\n", "Long")
        self.base_clean("namespace a {\n" + body(40) + body(40) + "}  // namespace a\n")
        self.base("struct Wide Make(\n    int a) {\n" + "  x();\n" * 69 + "}\n", "Make has 72")
        self.planted({"tools/x.py": "def long():\n" + "    x()\n" * 70}, "long has 71 lines")

    def test_braces_in_literals_open_nothing(self):
        self.base_clean('const char* kA = "{(";\nchar b = \'{\';\nauto c = R"x({()x";\n' + body(70))

    def test_printing(self):
        self.base("void F() { std::cout << 1; }\n", "prints")
        self.base('void F() { printf("x"); }\n', "prints")
        self.base_clean('// std::cout\nauto kA = "std::cout";\nint a = snprintf(b, 1, "x");\n')
        self.clean(self.folder("cli", "c.cc", "void F() { std::cout << 1; }\n"))

    def test_throw_and_using_namespace(self):
        self.base("void F() { throw 1; }\n", "throws")
        self.base("using namespace std;\n", "using namespace")
        self.base_clean("// Never throws: callers do not catch.\n")

    def test_unfinished_work(self):
        self.base(f"// {BROKEN}: later\n", "fix it")
        self.base(f"// {LATER}: later\n", "condition")
        self.base_clean(f"// {LATER}(when GCC 13 is the oldest): std::format.\n")

    def test_type_names(self):
        for name in ("TableManager", "RowHandler", "Processor", "BatchHelpers", "StringUtil"):
            self.base(f"class {name} {{}};\n", name)
        shim = {"src/lance/shim/src/lib.rs": "use lance::CommitHandler;\nstruct CommitHandler {}\n"}
        self.clean(shim)
        self.planted({"src/lance/shim/src/lib.rs": "struct ErrorHandler {}\n"}, "ErrorHandler")

    def test_file_names(self):
        for name in ("utils.py", "test_helpers.py", "common.py", "string_util.py"):
            self.planted({"tools/" + name: ""}, name)
        self.clean({"tools/commonplace.py": ""})

    def test_dead_files(self):
        self.planted({"src/base/b.h": "// B.\n"}, "src/base/b.h", "no file includes it")
        self.planted({"src/base/b.cc": ""}, "src/base/b.cc", "builds it")
        self.planted({"src/base/CMakeLists.txt": "lw_module(base SOURCES a.cc)  # b.cc\n",
                      "src/base/b.cc": ""}, "builds it")

    def test_machine(self):
        for text in ("/wo" + "rk/main", "see /ro" + "ot/x", "https://pypi" + ".org/simple"):
            self.planted({"docs/a.md": text + "\n"}, "docs/a.md:1", "one machine")
        self.clean({"docs/a.md": "a/wo" + "rk/b and frame" + "wo" + "rk/x\n"})

    def test_documented_promises(self):
        public = "include/lastword/a.h"
        text = CLEAN[public]
        self.planted({public: text + "\nvoid SayB();\n"}, "SayB")
        self.planted({public: text + "\ntemplate <typename T>\nclass C {};\n"}, "template")
        self.clean({public: text + "\ntemplate <typename T>\nclass C;\n"})
        self.planted({public: text + "\nstruct B {\n  int b = 0;\n};\n"}, "struct B")
        hidden = " private:\n  int Hidden();\n};\n"
        self.planted({public: text + "\n/// C.\nclass C {\n public:\n  C();\n\n  int Count();\n"
                      + hidden}, "Count")
        self.clean({public: text + "void SayB();\n\n/// C.\nclass C {\n public:\n  C(int a);\n"
                    "  ~C();\n  bool ok() const { return true; }\n" + hidden})


class CppTextTest(unittest.TestCase):
    def test_functions(self):
        code = ("namespace a {\nstruct B {\n  int x = 0;\n  int Get() const { return x; }\n};\n"
                "B::B(int y) : x{y} {\n  if (y) {\n  }\n}\nconst int kT[] = {\n  1,\n};\n"
                "TEST(A, B) {\n}\n}\n")
        self.assertEqual([f for f in cpp_text.functions(code)],
                         [("Get", 4, 4), ("B::B", 6, 9), ("TEST", 13, 14)])

    def test_includes(self):
        self.assertEqual(list(cpp_text.includes('\n#include "a/b.h"\n# include <map>\n')),
                         [(2, '"', "a/b.h"), (3, "<", "map")])


class CountTestsTest(unittest.TestCase):
    def counted(self, status, *cases):
        with tempfile.TemporaryDirectory() as folder:
            here = pathlib.Path(folder)
            (here / "ctest.junit").write_text(
                f'<testsuite><testcase name="p" status="{status}"/></testsuite>')
            if cases:
                (here / "p.xml").write_text("<t>" + "".join(cases) + "</t>")
            passed, failures, skips = count_tests.count(here)
            return passed, len(failures), len(skips)

    def test_cases_are_counted_not_programs(self):
        good = '<testcase classname="A" name="g" status="run" result="completed"/>'
        bad = '<testcase classname="A" name="b" status="run"><failure/></testcase>'
        skip = '<testcase classname="A" name="s" status="run"><skipped/></testcase>'
        self.assertEqual(self.counted("run", good, good), (2, 0, 0))
        self.assertEqual(self.counted("fail", good, bad), (1, 1, 0))
        self.assertEqual(self.counted("run", good, skip), (1, 0, 1))

    def test_a_program_that_dies_fails(self):
        good = '<testcase classname="A" name="g" status="run" result="completed"/>'
        self.assertEqual(self.counted("fail"), (0, 1, 0))
        self.assertEqual(self.counted("fail", good), (1, 1, 0))


def main():
    suite = unittest.defaultTestLoader.loadTestsFromModule(sys.modules[__name__])
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        result = unittest.TextTestRunner(stream=said, verbosity=0).run(suite)
    bad = len(result.failures) + len(result.errors)
    if bad:
        print(said.getvalue())
    print(f"{result.testsRun - bad} passed, {bad} failed")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
