# Sourced by ./dev: Python environments for tests, kept in the user's cache and keyed by what is in them, so that
# clones share one and a changed requirement makes a new one.

# python_env REQUIREMENTS: prints the path of a Python that has these packages; makes it when it is not there.
python_env() {
  local key env
  key=$({ cat "$1"; python3 -V; } | sha256sum | cut -c1-12)
  env="$CACHE/python-$key"
  if [ ! -e "$env/complete" ]; then
    mkdir -p "$CACHE"
    say "python: installing $1 into $env" >&2
    rm -rf "$env"
    python3 -m venv "$env" >&2
    "$env/bin/pip" install -q -r "$1" >&2
    touch "$env/complete"
  fi
  echo "$env/bin/python"
}
