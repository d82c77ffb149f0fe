#!/usr/bin/env python3
"""What it costs to refuse a subject that is known to be over its limit, beside an ask that is admitted.

  BENCH_KIT=… Benchmarks/refused/run.py [--secs 6] [--reps 3]

Drives the peer `askgate-redis` of Benchmarks/peers with the kit's own load: once without limits, once with one ask a
minute for each of 1,000 subjects, all of which were refused before the measurement begins. Prints CPU of the gateway
and of Redis per ask, and the scripts that Redis ran meanwhile. Exit code 1 when a refused ask costs more than a third of
an admitted one, gateway and Redis together, or asks Redis.
"""

import argparse
import importlib.machinery
import importlib.util
import os
import pathlib
import resource
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
os.environ.setdefault("BENCH_PEERS", str(ROOT / "Benchmarks/peers"))
os.environ.setdefault("BENCH_REPO", str(ROOT))
if "BENCH_KIT" not in os.environ:
    sys.exit("refused: BENCH_KIT names the folder of the bench kit")
loader = importlib.machinery.SourceFileLoader("kit", os.environ["BENCH_KIT"] + "/run")
kit = importlib.util.module_from_spec(importlib.util.spec_from_loader("kit", loader))
loader.exec_module(kit)
PEER, ALGORITHM, SCENARIO = "askgate-redis", "RS256", dict(tool="wrk", conns=64)


def scripts():
    out = subprocess.run(["redis-cli", "-p", str(kit.REDIS), "info", "commandstats"], capture_output=True, text=True).stdout
    counts = [line.split("calls=")[1].split(",")[0] for line in out.split("\n") if line.startswith("cmdstat_eval")]
    return sum(map(int, counts))


def measure(limits, secs):
    """CPU of gateway and Redis in µs per ask, asks, those that were refused, and scripts that Redis ran."""
    with kit.Stack(PEER, ALGORITHM, limits=limits) as stack:
        kit.load(stack, SCENARIO, ALGORITHM, 2)
        time.sleep(0.3)
        before = [kit.cpu_us(stack.gw), kit.cpu_us(stack.redis)], scripts()
        result = kit.load(stack, SCENARIO, ALGORITHM, secs)
        after = [kit.cpu_us(stack.gw), kit.cpu_us(stack.redis)], scripts()
    asks = result["requests"]
    gateway, redis = ((b - a) / asks for a, b in zip(before[0], after[0]))
    return gateway, redis, asks, result["status_errors"], after[1] - before[1]


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--secs", type=int, default=6)
    options.add_argument("--reps", type=int, default=3)
    options = options.parse_args()
    os.sched_setaffinity(0, {int(kit.LOAD_CPU)})
    resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
    failed = False
    for _ in range(options.reps):
        admitted = measure(kit.NOLIMIT, options.secs)
        refused = measure({**kit.NOLIMIT, "RPM": 1}, options.secs)
        for name, (gateway, redis, asks, errors, ran) in (("admitted", admitted), ("refused", refused)):
            print(f"{name}: {gateway:.1f} µs of the gateway, {redis:.2f} µs of Redis, {asks} asks ({errors} refused), "
                  f"{ran} scripts")
        share = sum(refused[:2]) / sum(admitted[:2])
        print(f"a refused ask costs {100 * share:.0f} % of an admitted one, of the gateway alone "
              f"{100 * refused[0] / admitted[0]:.0f} %")
        # What the gateway reads for itself, some two scripts a second, is no ask's.
        failed |= share > 1 / 3 or refused[4] > 10 * options.secs or refused[3] < refused[2]
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
