# Sourced by the scripts: `environment GROUP…` makes .venv from pyproject.toml, once per change of that file, and puts it on PATH.
# Needs python3 (3.11 or later) and nothing else; SASSAN_PYTHON names another interpreter.

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)"

say() { printf '%s\n' "$*" >&2; }

find_python() {
  local candidate
  for candidate in ${SASSAN_PYTHON:-python3 python3.14 python3.13 python3.12 python3.11}; do
    if "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
      printf '%s' "$candidate"
      return 0
    fi
  done
  say "sassan needs Python 3.11 or later: install it, or name it in SASSAN_PYTHON"
  return 1
}

# The stamp of a group changes with pyproject.toml and with the interpreter, so that an old environment is brought up to date.
stamp_of() { { cat "$root/pyproject.toml"; "$root/.venv/bin/python" -VV; printf '%s' "$root"; } | cksum | tr -d ' '; }

up_to_date() {
  local stamp group
  stamp="$(stamp_of)"
  for group in base "$@"; do
    [ "$(cat "$root/.venv/.stamp-$group" 2>/dev/null)" = "$stamp" ] || return 1
  done
}

environment() {
  local python group wanted=()
  # An interrupted `venv` leaves a folder without pip: such a one is made again.
  if ! "$root/.venv/bin/python" -m pip --version >/dev/null 2>&1; then
    python="$(find_python)" || return 1
    say "making .venv with $("$python" -V)"
    rm -rf "$root/.venv"
    "$python" -m venv "$root/.venv" || { say "python3 -m venv failed: on Debian and Ubuntu install python3-venv"; return 1; }
  fi
  if ! up_to_date "$@"; then
    say "installing sassan into .venv${*:+ with: $*}"
    for group in "$@"; do wanted+=(--group "$root/pyproject.toml:$group"); done
    # Dependency groups came with pip 25.1; venv brings the pip that its Python was released with.
    "$root/.venv/bin/python" -m pip install --quiet --disable-pip-version-check --upgrade 'pip>=25.1' || return 1
    "$root/.venv/bin/python" -m pip install --quiet --disable-pip-version-check ${wanted[@]+"${wanted[@]}"} --editable "$root" || return 1
    "$root/.venv/bin/sassan" warm --quiet || return 1 # the first answer waits for no compiler
    for group in base "$@"; do stamp_of >"$root/.venv/.stamp-$group"; done
  fi
  PATH="$root/.venv/bin:$PATH"
  export PATH
}
