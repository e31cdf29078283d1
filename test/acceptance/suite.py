"""What the acceptance scripts share: a list of tests, and running all of them.

A script's tests are functions under `@test`; they find the program and a folder in ARGS. A failing
test does not hide the others. Prints 'N passed, N failed' last.
"""

import argparse
import traceback

ARGS = argparse.Namespace()  # lastword, scratch
TESTS = []


def test(function):
    TESTS.append(function)
    return function


def main(description):
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--lastword", required=True)
    parser.add_argument("--scratch", required=True)
    parser.parse_args(namespace=ARGS)
    failed = 0
    for function in TESTS:
        try:
            function()
            print(f"ok      {function.__name__}", flush=True)
        except Exception:  # a failing test must not hide the others
            failed += 1
            print(f"FAILED  {function.__name__}\n{traceback.format_exc()}", flush=True)
    print(f"{len(TESTS) - failed} passed, {failed} failed")
    return 1 if failed else 0
