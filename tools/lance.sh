# Sourced by ./dev: builds the Rust library (src/lance/shim) once for all clones of a machine.
#
# 390 crates stand behind it. Their objects live in the user's cache, in a folder keyed by the lock file, the manifest
# and the compiler, and a finished library is kept there under the hash of the shim's sources. So a change of C++
# compiles no Rust, a change of the shim compiles one crate, and a fresh clone of known sources compiles none.

SHIM=src/lance/shim
LIBRARY=liblastword_lance.so

build_lance() {
  local tools cargo rustc target sources kept
  tools=$(rust_bin) || fail "no Rust >= $RUST_MIN found; ./dev setup installs it"
  cargo=$(head -n 1 <<<"$tools")
  rustc=$(tail -n 1 <<<"$tools")
  target="$CACHE/cargo-$(crates_key "$rustc")"
  sources=$(shim_hash)
  kept="$target/libraries/$sources.so"
  mkdir -p "$CACHE" build/lance
  # A library that is there waits for nobody who compiles another one.
  [ -e "$kept" ] || (
    flock 9
    [ -d "$target" ] || seed_crates "$rustc" "$target"
    mkdir -p "$target/libraries"
    [ -e "$kept" ] || cargo_build "$cargo" "$rustc" "$target" "$kept"
  ) 9>"$CACHE/cargo.lock"
  touch "$kept" "$target"
  # A library that is the same keeps its time, so that nothing is linked again.
  if ! cmp -s "$kept" "build/lance/$LIBRARY"; then
    cp "$kept" "build/lance/$LIBRARY.new"
    mv "build/lance/$LIBRARY.new" "build/lance/$LIBRARY"
  fi
}

# The exact crates, how they are compiled, and by what. Not the shim itself: it is one crate of 391.
crates_key() {
  { awk -v RS= '!/name = "lastword-lance"/' "$SHIM/Cargo.lock"; sed -n '/^\[profile/,$p' "$SHIM/Cargo.toml" | grep -v '^ *#'; "$1" -V; } |
    sha256sum | cut -c1-12
}

shim_hash() {
  find "$SHIM" -type f -not -path '*/target/*' -print0 | LC_ALL=C sort -z | xargs -0 sha256sum | sha256sum | cut -c1-16
}

# seed_crates RUSTC TARGET: starts from the newest folder of the same compiler, where there is one: cargo then
# compiles only the crates that a changed lock file or profile touches.
seed_crates() {
  local other
  # shellcheck disable=SC2012  # names without spaces
  other=$(ls -td "$CACHE"/cargo-*/ 2>/dev/null | while read -r folder; do
    grep -qF "$("$1" -V)" "$folder/.rustc_info.json" 2>/dev/null && echo "$folder" && break
  done || true)
  [ -n "$other" ] || return 0
  say "lance: starting from the crates compiled in $other"
  rm -rf "$2.new"
  cp -a "$other" "$2.new"
  rm -rf "$2.new/libraries"
  mv "$2.new" "$2"
  # Two gigabytes each: the newest three are kept.
  # shellcheck disable=SC2012
  ls -td "$CACHE"/cargo-????????????/ | tail -n +4 | xargs -r rm -rf
}

# cargo_build CARGO RUSTC TARGET KEPT
cargo_build() {
  if ! compgen -G "$3/release/deps/liblance-*.rlib" >/dev/null; then
    say "lance: first build of the Lance crate and the 390 crates behind it: about 25 minutes on 2 cores, once a"
    say "lance: machine. Compiled crates are kept. To watch it: ls $3/release/deps/*.rlib | wc -l (of about 400)"
  fi
  # All clones share the folder, and cargo's own check looks at times, not at which clone made the library.
  rm -rf "$3"/release/.fingerprint/lastword-lance-*
  RUSTC="$2" CARGO_TARGET_DIR="$3" "$1" build --release --locked --manifest-path "$SHIM/Cargo.toml"
  [ "$3/libraries/$(shim_hash).so" = "$4" ] || fail "$SHIM changed while it was built; build again"
  cp "$3/release/$LIBRARY" "$4.new"
  mv "$4.new" "$4"
  # shellcheck disable=SC2012  # names without spaces
  ls -t "$3"/libraries/*.so | tail -n +5 | xargs -r rm -f
}
