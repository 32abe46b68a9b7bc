#!/usr/bin/env python3
"""Decayed fair share as a program of its own, for `simulate --policy exec+./fair_share.py` (docs/protocol.md).

Waiting jobs start, if they fit, in order of what their users have used: processor seconds that halve every day.
"""
import json
import math
import sys

HALF_LIFE = 86400.0
queue = []  # jobs that wait, in order of arrival
running = {}  # job -> (start, processors, user)
used = {}  # user -> (processor seconds, since when they have decayed)


def decayed(user, now):
    """They halve every day, along straight lines in between: arithmetic that is the same in every language."""
    seconds, since = used.get(user, (0.0, 0.0))
    half_lives = (now - since) / HALF_LIFE
    whole = math.floor(half_lives)
    return seconds * math.ldexp(1.0, -whole) * (1.0 - (half_lives - whole) / 2.0)


def charge(job, time):
    start, processors, user = running.pop(job)
    used[user] = (decayed(user, time) + processors * (time - start), time)


def started(now, free):
    users = {job["user"] for job in queue}
    share = {user: decayed(user, now) for user in users}
    for job in sorted(queue, key=lambda job: share[job["user"]]):
        if job["processors"] <= free:
            free -= job["processors"]
            running[job["job"]] = (now, job["processors"], job["user"])
            yield job["job"]
    queue[:] = [job for job in queue if job["job"] not in running]


for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        print(json.dumps({"type": "ready", "protocol": 2}), flush=True)
    elif message["type"] == "pass":
        for job in message["finished"]:
            charge(job["job"], job["time"])
        queue += message["submitted"]
        print(json.dumps({"start": list(started(message["now"], message["free"][0]))}), flush=True)
    else:
        break
