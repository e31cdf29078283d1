# Sourced by ./dev: installs what tools/packages.txt names and a Rust compiler, on Debian 12. Elsewhere it only looks
# and says what is missing. Calls apt-get only when something is missing, so a second run needs no network.

RUST_MIN=1.94

setup() {
  local missing
  if [ "$(. /etc/os-release 2>/dev/null && echo "${ID:-}${VERSION_ID:-}")" = debian12 ]; then
    missing=$(packages | while read -r package _; do debian_has "$package" || echo "$package"; done)
    rust_bin >/dev/null || missing="$missing rustc-web cargo-web"
    # shellcheck disable=SC2086  # a list of words
    [ -z "${missing// /}" ] || debian_install $missing
    rust_bin >/dev/null || fail "no Rust >= $RUST_MIN: rustc-web and cargo-web of Debian 12's updates have one"
  else
    missing=$(packages | while read -r package check; do system_has "$check" || echo "  $package ($check)"; done)
    rust_bin >/dev/null || missing="$missing
  Rust >= $RUST_MIN (cmd:cargo, cmd:rustc)"
    [ -z "$missing" ] || fail "this is not Debian 12: install these (Debian's names) by your system's means:
$missing"
  fi
  say "setup: everything is there ($(rust_bin | tr '\n' ' '))"
}

packages() { sed 's/#.*//' tools/packages.txt | grep -v '^ *$'; }

debian_has() { [ "$(dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null)" = installed ]; }

debian_install() {
  local sudo=""
  [ "$(id -u)" = 0 ] || sudo="sudo"
  [ -z "$sudo" ] || command -v sudo >/dev/null || fail "run ./dev setup as root, or install sudo; missing: $*"
  say "setup: installing $*"
  export DEBIAN_FRONTEND=noninteractive
  $sudo apt-get update -qq
  $sudo apt-get install -y -qq --no-install-recommends "$@" >build-setup.log 2>&1 ||
    { tail -n 20 build-setup.log >&2; rm -f build-setup.log; fail "apt-get install failed"; }
  rm -f build-setup.log
}

# system_has CHECK: looks for one entry of the second column of packages.txt.
system_has() {
  case "$1" in
    cmd:*) command -v "${1#cmd:}" >/dev/null ;;
    pc:*) command -v pkg-config >/dev/null && pkg-config --exists "${1#pc:}" ;;
    header:*) [ -e "/usr/include/${1#header:}" ] || [ -e "/usr/local/include/${1#header:}" ] ;;
    *) true ;;
  esac
}

# rust_bin: prints the cargo and the rustc to use, one a line; fails when none is new enough. An old compiler that comes
# first on PATH must not hide a newer one of the system.
rust_bin() {
  local folder
  for folder in "$(dirname "$(command -v rustc 2>/dev/null || echo /nowhere/rustc)")" "$HOME/.cargo/bin" /usr/bin; do
    [ -x "$folder/rustc" ] && [ -x "$folder/cargo" ] || continue
    if printf '%s\n' "$RUST_MIN" "$("$folder/rustc" -V 2>/dev/null | awk '{print $2}')" | sort -V -C; then
      printf '%s\n' "$folder/cargo" "$folder/rustc"
      return 0
    fi
  done
  return 1
}
