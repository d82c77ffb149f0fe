#!/usr/bin/env python3
"""Shows that several gateways beside one Redis enforce every limit exactly.

  Benchmarks/accuracy/run.py [--store single|cluster|sentinel] [--seconds 180] [--failover]

Starts Redis, a provider of its own, three gateways from .build/release/askgate (or $ASKGATE_BINARY), and 20 subjects
that ask for four times their minute's limit: half evenly, half in bursts. Then the same subjects open more streams than
they may, and at last 50 asks at once of each against a small day. Judged: in no rolling 60 seconds more than the limit,
at least 98 % of it; never more streams than allowed and no place lost; the day's counter equal to what the provider
reported. Everything listens on the loopback only and is ended by its process id. Exit code 1 when a promise is broken.
"""

import argparse
import asyncio
import json
import os
import pathlib
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
BINARY = os.environ.get("ASKGATE_BINARY", str(ROOT / ".build/release/askgate"))
SECRET = "accuracy-accuracy-accuracy-accuracy"
SUBJECTS, RPM, STREAMS, DAY = 20, 60, 3, 20000
TEXT = "The quick brown fox jumps over the lazy dog and then it runs away into the woods. "


def free_port():
    """Below the range that connections take theirs from; a cluster node also listens 10,000 above."""
    while True:
        with socket.socket() as s:
            try:
                s.bind(("127.0.0.1", port := random.randrange(11000, 21000)))
                return port
            except OSError:
                continue


class Processes:
    def __init__(self, folder):
        self.folder, self.all = folder, []

    def start(self, name, argv, env=None):
        log = open(f"{self.folder}/{name}.log", "wb")
        p = subprocess.Popen(argv, stdout=log, stderr=log, stdin=subprocess.DEVNULL, env={**os.environ, **(env or {})})
        self.all.append(p)
        return p

    def end(self):
        for p in reversed(self.all):
            if p.poll() is None:
                p.send_signal(signal.SIGCONT)
                p.terminate()
        for p in self.all:
            try:
                p.wait(10)
            except subprocess.TimeoutExpired:
                p.kill()


def wait_for(port, seconds=15):
    end = time.time() + seconds
    while time.time() < end:
        with socket.socket() as s:
            if s.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    sys.exit(f"accuracy: nothing listens on {port}")


def cli(port, *words):
    return subprocess.run(["redis-cli", "-p", str(port), *words], capture_output=True, text=True).stdout.strip()


def redis(processes, name, *options):
    port = free_port()
    folder = f"{processes.folder}/{name}"
    os.mkdir(folder)
    p = processes.start(name, ["redis-server", "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--dir", folder,
                               "--appendonly", "no", *options])
    wait_for(port)
    return p, port


def start_store(kind, processes):
    """The store's section of the configuration, and what a failover has to kill."""
    if kind == "single":
        p, port = redis(processes, "redis")
        return f'{{kind: redis, address: "127.0.0.1:{port}", timeout: 500ms}}', p
    if kind == "cluster":
        nodes = [redis(processes, f"node{i}", "--cluster-enabled", "yes", "--cluster-node-timeout", "2000") for i in range(3)]
        ports = [port for _, port in nodes]
        subprocess.run(["redis-cli", "--cluster", "create", *[f"127.0.0.1:{p}" for p in ports], "--cluster-yes"],
                       check=True, capture_output=True)
        end = time.time() + 20
        while "cluster_state:ok" not in cli(ports[0], "cluster", "info") and time.time() < end:
            time.sleep(0.2)
        return "{kind: redis, cluster: [%s], timeout: 500ms}" % ", ".join(f'"127.0.0.1:{p}"' for p in ports), None
    master, port = redis(processes, "master")
    _, replica = redis(processes, "replica", "--replicaof", "127.0.0.1", str(port))
    sentinels = []
    for i in range(3):
        own = free_port()
        path = f"{processes.folder}/sentinel{i}.conf"
        pathlib.Path(path).write_text(
            f"port {own}\nbind 127.0.0.1\nsentinel monitor askgate 127.0.0.1 {port} 2\n"
            "sentinel down-after-milliseconds askgate 1000\nsentinel failover-timeout askgate 5000\n")
        processes.start(f"sentinel{i}", ["redis-server", path, "--sentinel"])
        wait_for(own)
        sentinels.append(own)
    end = time.time() + 20
    while "num-slaves" in (state := cli(sentinels[0], "sentinel", "master", "askgate")) and time.time() < end:
        words = state.split("\n")
        if words[words.index("num-slaves") + 1] == "1" and words[words.index("num-other-sentinels") + 1] == "2":
            break
        time.sleep(0.2)
    addresses = ", ".join(f'"127.0.0.1:{p}"' for p in sentinels)
    return f"{{kind: redis, sentinel: {{master: askgate, addresses: [{addresses}]}}, timeout: 500ms}}", master


class Provider:
    """An OpenAI-compatible provider: answers at once, or streams for two seconds; counts what it reports."""

    def __init__(self):
        self.open, self.most, self.reported = {}, {}, {}

    async def serve(self):
        self.server = await asyncio.start_server(self.connection, "127.0.0.1", 0, limit=1 << 20)
        return self.server.sockets[0].getsockname()[1]

    async def connection(self, reader, writer):
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                size = int(next(l for l in head.lower().split(b"\r\n") if l.startswith(b"content-length:")).split(b":")[1])
                body = json.loads(await reader.readexactly(size))
                who = re.search(r"subject-[a-z]+-[0-9]+", json.dumps(body["messages"]))[0]
                usage = {"prompt_tokens": 30, "completion_tokens": 40, "total_tokens": 70}
                self.reported[who] = self.reported.get(who, 0) + 70
                if body.get("stream"):
                    await self.stream(writer, who, usage)
                else:
                    answer = json.dumps({"choices": [{"message": {"role": "assistant", "content": "Yes."}, "finish_reason": "stop"}],
                                         "usage": usage}).encode()
                    await asyncio.sleep(0.02)
                    writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(answer) + answer)
        except (asyncio.IncompleteReadError, ConnectionError, asyncio.CancelledError):
            pass
        finally:
            writer.close()

    async def stream(self, writer, who, usage):
        self.open[who] = self.open.get(who, 0) + 1
        self.most[who] = max(self.most.get(who, 0), self.open[who])
        try:
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n")
            events = [{"choices": [{"delta": {"content": "word "}}]}] * 20
            for event in events + [{"choices": [{"delta": {}, "finish_reason": "stop"}]}, {"choices": [], "usage": usage}, None]:
                data = b"data: %s\n\n" % (json.dumps(event).encode() if event else b"[DONE]")
                writer.write(b"%x\r\n%s\r\n" % (len(data), data))
                await writer.drain()
                await asyncio.sleep(0.1)
                if event and not event["choices"]:
                    # The place is given back before the client hears of the end.
                    self.open[who] -= 1
                    who = None
            writer.write(b"0\r\n\r\n")
        finally:
            if who:
                self.open[who] -= 1


def configuration(store, provider, api, admin):
    limits = f"""
          - {{name: requests_per_minute, limit: {RPM}, on_outage: deny}}
      streams:
        limits:
          - {{name: concurrent_requests, limit: {STREAMS}}}
      day:
        limits:
          - {{name: tokens_per_day, limit: {DAY}}}"""
    return f"""listeners:
  api: {{address: 127.0.0.1, port: {api}}}
  admin: {{address: 127.0.0.1, port: {admin}}}
loops: 1
store: {store}
log: {{access: none}}
providers:
  main: {{dialect: openai, base_url: "http://127.0.0.1:{provider}/v1", key: {{env: ACCURACY_KEY}}, max_connections: 4096}}
tenants:
  t:
    zone: Asia/Kathmandu
    default_plan: minute
    issuers:
      - issuer: https://id.accuracy.localhost
        audience: askgate
        algorithms: [HS256]
        profile: plain
        keys: {{hmac_secret: {{env: ACCURACY_SECRET}}}}
        plan_claim: {{path: plan, values: {{minute: minute, streams: streams, day: day}}}}
    plans:
      minute:
        limits:{limits}
    tasks:
      summarize: {{max_output_tokens: 60, routes: [{{provider: main, model: m}}]}}
"""


def token(folder, subject, plan):
    path = f"{folder}/secret"
    pathlib.Path(path).write_text(SECRET)
    os.chmod(path, 0o600)
    out = subprocess.run([BINARY, "token", "--key", path, "--issuer", "https://id.accuracy.localhost", "--audience", "askgate",
                          "--subject", subject, "--plan", plan], capture_output=True, text=True, check=True)
    return out.stdout.strip().split("\n")[-1]


class Client:
    """A keep-alive connection for each ask in flight to each gateway."""

    def __init__(self, ports):
        self.ports, self.idle = ports, {p: [] for p in ports}

    async def ask(self, port, bearer, who, stream=False, path="/api/process"):
        """Status, body, and the moments before sending and after the head."""
        while True:
            fresh = not self.idle[port]
            reader, writer = await asyncio.open_connection("127.0.0.1", port) if fresh else self.idle[port].pop()
            body = json.dumps({"task": "summarize", "text": f"{TEXT} {who} ", "stream": stream}).encode()
            start = f"POST {path}" if path == "/api/process" else f"GET {path}"
            if path != "/api/process":
                body = b""
            sent = time.monotonic()
            try:
                writer.write(f"{start} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {bearer}\r\nContent-Type: application/json\r\n"
                             f"Content-Length: {len(body)}\r\n\r\n".encode() + body)
                head = await reader.readuntil(b"\r\n\r\n")
            except (ConnectionError, asyncio.IncompleteReadError):
                writer.close()
                if fresh:
                    return 0, b"", sent, time.monotonic()
                continue
            answered = time.monotonic()
            status = int(head.split()[1])
            lower = head.lower()
            if b"content-length:" in lower:
                size = int(lower.split(b"content-length:")[1].split(b"\r\n")[0])
                data = await reader.readexactly(size)
            else:
                data = b""
                while True:
                    size = int(await reader.readuntil(b"\r\n"), 16)
                    data += (await reader.readexactly(size + 2))[:-2]
                    if size == 0:
                        break
            self.idle[port].append((reader, writer))
            return status, data, sent, answered


def most_in_window(admitted):
    """Most asks that were certainly admitted within one rolling minute: sent and answered inside it."""
    asks = sorted(admitted)
    most = 0
    for start, _ in asks:
        most = max(most, sum(1 for sent, answered in asks if sent >= start and answered <= start + 60))
    return most


async def minute_limit(client, bearers, seconds, failover):
    admitted = {who: [] for who in bearers}
    statuses = {}
    begin = time.monotonic()

    async def one(who, number):
        status, _, sent, answered = await client.ask(client.ports[number % len(client.ports)], bearers[who], who)
        statuses[status] = statuses.get(status, 0) + 1
        if status == 200:
            admitted[who].append((sent, answered))

    async def subject(index, who):
        running, number = set(), index
        period = 60 / (4 * RPM)
        bursts = index % 2 == 1
        while time.monotonic() - begin < seconds:
            for _ in range(4 * RPM // 6 if bursts else 1):
                task = asyncio.create_task(one(who, number))
                running.add(task)
                task.add_done_callback(running.discard)
                number += 1
            await asyncio.sleep(10 if bursts else period)
        await asyncio.gather(*running)

    killed = []

    async def kill_master():
        # While half of the subjects are being admitted.
        await asyncio.sleep(min(65, seconds / 2))
        failover.kill()
        killed.append(time.monotonic())
        print("  the master was killed")

    jobs = [subject(i, who) for i, who in enumerate(bearers)] + ([kill_master()] if failover else [])
    await asyncio.gather(*jobs)
    end = time.monotonic()
    elapsed = end - begin
    most = max(most_in_window(a) for a in admitted.values())
    # What a failover may forget: a subject's asks of the master's last second, and those on their way.
    behind = {who: sum(1 for sent, answered in asks for death in killed if answered >= death - 1 and sent <= death)
              for who, asks in admitted.items()}
    beyond = max(most_in_window(admitted[who]) - RPM - behind[who] for who in admitted)
    if killed:
        gap = min((sent for asks in admitted.values() for sent, _ in asks if sent > killed[0]), default=end) - killed[0]
        print(f"  asks of one subject that the failover could forget: at most {max(behind.values())}; "
              f"admitted again {gap:.1f} s after it")
    # A subject that always wants more gets its limit at the start and again as each ask leaves the window; in bursts
    # it finds out only at its next one.
    least = min(len(a) for a in admitted.values())
    possible = RPM * (int(elapsed // 60) + 1) if elapsed % 60 > 15 else RPM * int(elapsed // 60)
    latency = sorted(b - a for x in admitted.values() for a, b in x)
    print(f"  {sum(statuses.values())} asks {statuses}; most in 60 s: {most} of {RPM}; least admitted: {least} of {possible} "
          f"({100 * least / possible:.1f} %); slowest admitted {latency[-1] * 1000:.0f} ms")
    return most, least / possible, beyond


async def streams_limit(client, bearers, provider):
    async def subject(who):
        results = []
        for _ in range(3):
            results += await asyncio.gather(*[
                client.ask(client.ports[n % len(client.ports)], bearers[who], who, stream=True) for n in range(4 * STREAMS)])
        return results
    results = await asyncio.gather(*[subject(who) for who in bearers])
    counts = {}
    for result in results:
        for status, *_ in result:
            counts[status] = counts.get(status, 0) + 1
    most = max(provider.most.get(who, 0) for who in bearers)
    used = []
    for who in bearers:
        used.append(await settled(client, bearers[who], who, 0))
    print(f"  streams {counts}; most at once of one subject: {most} of {STREAMS}; places still taken: {sum(used)}")
    return most, sum(used), counts.get(200, 0)


async def quota(client, bearer, who):
    _, body, *_ = await client.ask(client.ports[0], bearer, who, path="/v1/quota")
    return json.loads(body)["limits"][0]


async def settled(client, bearer, who, wanted):
    """What is used, once it is what is wanted; no client waits for a settlement, so it may come a moment later."""
    end = time.monotonic() + 5
    while (used := (await quota(client, bearer, who))["used"]) != wanted and time.monotonic() < end:
        await asyncio.sleep(0.02)
    return used


async def day_limit(client, bearers, provider):
    before = dict(provider.reported)
    worst_over, unequal, left = 0, 0, 0
    for who in bearers:
        # In ever smaller steps to the end of the day: an ask is admitted only with room for what it may cost.
        for _ in range(60):
            asks = await asyncio.gather(*[client.ask(client.ports[n % 3], bearers[who], who) for n in range(50)])
            if not any(status == 200 for status, *_ in asks):
                break
        reported = provider.reported.get(who, 0) - before.get(who, 0)
        used = await settled(client, bearers[who], who, reported)
        unequal += used != reported
        worst_over = max(worst_over, reported - DAY)
        left = max(left, DAY - used)
    print(f"  subjects whose day differs from the provider's report: {unequal}; most over the day: {worst_over} tokens; "
          f"most left unused: {left}")
    return unequal, worst_over, left


async def judge(options, folder, processes):
    provider = Provider()
    provider_port = await provider.serve()
    store, master = start_store(options.store, processes)
    ports = []
    for i in range(3):
        api, admin = free_port(), free_port()
        path = f"{folder}/gateway{i}.yaml"
        pathlib.Path(path).write_text(configuration(store, provider_port, api, admin))
        processes.start(f"gateway{i}", [BINARY, "serve", "--config", path],
                        {"ACCURACY_KEY": "k", "ACCURACY_SECRET": SECRET})
        wait_for(api)
        ports.append(api)
    client = Client(ports)
    await asyncio.sleep(1)
    bearers = lambda plan: {f"subject-{plan}-{i}": token(folder, f"subject-{plan}-{i}", plan) for i in range(SUBJECTS)}
    print(f"{options.store}: three gateways, {SUBJECTS} subjects")
    failed = []
    most, share, beyond = await minute_limit(client, bearers("minute"), options.seconds, master if options.failover else None)
    if beyond > 0:
        failed.append("requests_per_minute was passed")
    if share < 0.98 and not options.failover:
        failed.append("less than 98 % of requests_per_minute was given")
    most, lost, passed = await streams_limit(client, bearers("streams"), provider)
    if most > STREAMS or passed < SUBJECTS * STREAMS:
        failed.append("concurrent_requests was not exact")
    if lost:
        failed.append("places were lost")
    unequal, over, left = await day_limit(client, bearers("day"), provider)
    if unequal or over > 70 or left > 200:
        failed.append("tokens_per_day was not exact")
    return failed


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--store", choices=["single", "cluster", "sentinel"], default="single")
    options.add_argument("--seconds", type=int, default=180)
    options.add_argument("--failover", action="store_true", help="kill the master in the middle (sentinel only)")
    options = options.parse_args()
    folder = tempfile.mkdtemp(prefix="askgate-accuracy-")
    processes = Processes(folder)
    try:
        failed = asyncio.run(judge(options, folder, processes))
    finally:
        processes.end()
    for text in failed:
        print(f"FAILED: {text}")
    if not failed:
        shutil.rmtree(folder)
        print("exact")
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
