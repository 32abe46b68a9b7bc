#!/usr/bin/env python3
"""EASY backfilling as a program of its own, for `simulate --policy exec+./easy.py` (docs/protocol.md)."""
import json
import sys

queue = []  # jobs that wait, in order of arrival
running = {}  # job -> (expected end, processors)


def reservation(head, free):
    """Returns the latest start of the head, and the processors that it leaves over then."""
    ends = sorted(running.values())
    for k, (end, processors) in enumerate(ends):
        free += processors
        last_of_this_instant = k + 1 == len(ends) or ends[k + 1][0] > end
        if free >= head["processors"] and last_of_this_instant:
            return end, free - head["processors"]
    return float("inf"), 0


def easy(now, free):
    started = []

    def start(job):
        running[job["job"]] = (now + job["requested"], job["processors"])
        started.append(job["job"])
        return job["processors"]

    while queue and queue[0]["processors"] <= free:
        free -= start(queue.pop(0))
    if queue:
        shadow, extra = reservation(queue[0], free)
        for job in queue[1:]:
            ends_in_time = now + job["requested"] <= shadow
            if job["processors"] <= free and (ends_in_time or job["processors"] <= extra):
                free -= start(job)
                extra -= 0 if ends_in_time else job["processors"]
        queue[:] = [job for job in queue if job["job"] not in running]
    return started


for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        print(json.dumps({"type": "ready", "protocol": 1}), flush=True)
    elif message["type"] == "pass":
        for job in message["finished"]:
            del running[job["job"]]
        queue += message["submitted"]
        print(json.dumps({"start": easy(message["now"], message["free"][0])}), flush=True)
    else:
        break
