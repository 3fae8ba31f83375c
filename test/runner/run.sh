#!/usr/bin/env bash
# Component test of the runner: its four verbs as processes against the real Pulumi CLI, a Git server and a
# small gateway. Arguments go to unittest (a class or test name, -v). RCO_KEEP=1 keeps the directories.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
exec python3 -m unittest "${@:-discover -p *_test.py}"
