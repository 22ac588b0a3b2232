#!/bin/bash
# Starts a worker on each of several machines, for one run that is too large for a machine:
#
#     HOSTS="worker-1 worker-2" CONFIG=/srv/skills/cluster.yaml bash workers-over-ssh.sh
#
# Each machine has skillgauge, the agent's program with its key, and at CONFIG the address and certificates of the
# cluster. Workers end with the scheduler, or with Ctrl-C here. The exit code is that of the worst worker.
set -uo pipefail

: "${HOSTS:?names for ssh, with spaces between them}"
: "${CONFIG:?the configuration file on those machines, with executors.dask.address}"
read -ra hosts <<<"$HOSTS"

under_way=()
for host in "${hosts[@]}"; do
    # -tt: a lost connection hangs up, which stops the worker there as Ctrl-C does.
    ssh -tt -o BatchMode=yes -o ServerAliveInterval=15 "$host" \
        "skillgauge worker --config $(printf %q "$CONFIG") --name $(printf %q "$host") --places ${PLACES:-4}" </dev/null &
    under_way+=($!)
done
worst=0
for one in "${under_way[@]}"; do
    wait "$one"
    code=$?
    ((code > worst)) && worst=$code
done
exit "$worst"
