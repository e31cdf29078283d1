#!/usr/bin/env python3
"""Counts the test cases of one ctest run: `count_tests.py FOLDER`.

FOLDER holds ctest.junit and one XML file a program that has GoogleTest: ctest knows programs,
GoogleTest knows cases. A program that died without a report, or that failed although each of its
cases passed (a sanitizer speaks at exit), is one failure more. Prints each failure and the closing
line; exits 1 on a failure, and when nothing ran.
"""
import pathlib
import sys
import xml.etree.ElementTree as xml


def cases_of(report):
    """Returns (passed, names of failed, names of skipped) of one GoogleTest report."""
    passed, failed, skipped = 0, [], []
    for case in xml.parse(report).getroot().iter("testcase"):
        name = f"{case.get('classname')}.{case.get('name')}"
        if case.find("failure") is not None:
            failed.append(name)
        elif case.get("result") == "skipped" or case.find("skipped") is not None:
            skipped.append(name)
        elif case.get("status") == "run":
            passed += 1
    return passed, failed, skipped


def count(folder):
    """Returns (passed, lines about failures, lines about skips) of a run."""
    passed, failures, skips = 0, [], []
    for program in xml.parse(folder / "ctest.junit").getroot().iter("testcase"):
        name, report = program.get("name"), folder / f"{program.get('name')}.xml"
        died = program.get("status") != "run"
        if not report.exists():
            # A program without GoogleTest (one in C) is one case; one with it that died left none.
            passed += not died
            if died:
                failures.append(f"{name}: ended without a report ({program.get('status')})")
            continue
        good, bad, skipped = cases_of(report)
        passed += good
        failures += [f"{name}: {case}" for case in bad]
        skips += [f"{name}: {case}" for case in skipped]
        if died and not bad:
            failures.append(f"{name}: its cases passed, the program did not end well")
    return passed, failures, skips


def main():
    passed, failures, skips = count(pathlib.Path(sys.argv[1]))
    for line in skips:
        print(f"skipped {line}")
    for line in failures:
        print(f"FAILED {line}")
    if not passed and not failures:
        print("no test ran")
    print(f"{passed} passed, {len(failures)} failed")
    return 1 if failures or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
