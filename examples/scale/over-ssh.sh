#!/bin/bash
# Evaluates the skills of a folder on several machines, each skill as a whole on one of them:
#
#     HOSTS="worker-1 worker-2" bash over-ssh.sh
#
# Each machine has skillgauge, the agent's program with its key, and the same checkout at FOLDER. A machine evaluates one
# skill after another. The exit code is that of the worst skill; the same command goes on with what was interrupted.
set -uo pipefail

: "${HOSTS:?names for ssh, with spaces between them}"
: "${SKILLGAUGE_STORE:?the address of the database, such as postgresql://ci@db.example/evals}"
folder=${FOLDER:-$PWD}
read -ra hosts <<<"$HOSTS"
skills=(skills/*/)

on_host() {
    local worst=0 code at
    for ((at = $1; at < ${#skills[@]}; at += ${#hosts[@]})); do
        # -tt: a lost connection hangs up, which stops the run there as Ctrl-C does.
        ssh -tt -o BatchMode=yes -o ServerAliveInterval=15 "${hosts[$1]}" \
            "cd $(printf %q "$folder") && skillgauge eval $(printf %q "${skills[$at]}") --concurrency 8 --store $(printf %q "$SKILLGAUGE_STORE")" \
            </dev/null
        code=$?
        ((code > worst)) && worst=$code
    done
    return "$worst"
}

under_way=()
for at in "${!hosts[@]}"; do
    on_host "$at" &
    under_way+=($!)
done
worst=0
for one in "${under_way[@]}"; do
    wait "$one"
    code=$?
    ((code > worst)) && worst=$code
done
exit "$worst"
