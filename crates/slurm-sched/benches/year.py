#!/usr/bin/env python3
"""Draw a year of a 100-node cluster: slurm.conf, cluster.cfg and jobs.sacct for `cargo xtask slurm` (docs/slurm.md, "Compare settings").

usage: year.py FOLDER [JOBS]

Widths and run times are log-uniform, limits one to four times the run time; users submit more by day and on weekdays. No
machine has run these jobs: Start in jobs.sacct is a random wait (exponential, mean 1 h) after Submit.
"""

import math
import pathlib
import random
import sys

BEGIN, YEAR = 1_767_225_600, 365 * 86_400  # 2026-01-01 UTC
NODES, LOAD = 100, 0.65
PARTITIONS = {"batch": (0.75, 32, 24 * 60), "long": (0.1, 8, 7 * 24 * 60), "debug": (0.15, 4, 60)}  # share, widest, minutes
ACCOUNTS = {"physics": 40, "chemistry": 30, "biology": 15, "climate": 10, "teaching": 5}  # shares
CONF = """ClusterName=year
NodeName=n[1-100] CPUs=16 RealMemory=64000
PartitionName=batch Nodes=n[1-90] Default=YES MaxTime=1-0 PriorityTier=2
PartitionName=long Nodes=n[41-90] MaxTime=7-0 PriorityTier=1
PartitionName=debug Nodes=n[81-100] MaxTime=1:00:00 PriorityTier=3
SchedulerParameters=bf_interval=60,bf_resolution=300,bf_window=7200
AccountingStorageType=accounting_storage/slurmdbd
PriorityType=priority/multifactor
PriorityCalcPeriod=5
PriorityDecayHalfLife=7-0
PriorityWeightFairshare=100000
PriorityWeightAge=10000
PriorityWeightJobSize=1000
"""


def instant(draw: random.Random) -> int:
    """A second of the year, by day four times and on weekdays twice as likely as else."""
    while True:
        second = draw.randrange(YEAR)
        day, hour = (second // 86_400 + 3) % 7, second // 3600 % 24  # the year begins on a Thursday
        if draw.random() < (1 if 8 <= hour < 20 else 0.25) * (1 if day < 5 else 0.5):
            return BEGIN + second


def main() -> None:
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    folder, count = pathlib.Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 31_900
    folder.mkdir(parents=True, exist_ok=True)
    draw = random.Random(2026)
    users = [(f"{account[:4]}{i}", account) for account, shares in ACCOUNTS.items() for i in range(shares // 5 + 2)]
    jobs = []
    for _ in range(count):
        partition = draw.choices(list(PARTITIONS), [share for share, _, _ in PARTITIONS.values()])[0]
        _, widest, most = PARTITIONS[partition]
        user, account = draw.choice(users)
        jobs.append([instant(draw), user, account, partition, int((widest + 1) ** draw.random()), 240 ** draw.random(), most])
    scale = LOAD * NODES * YEAR / sum(width * run for *_, width, run, _ in jobs)
    lines = ["JobIDRaw|User|Account|QOS|Partition|Submit|Eligible|Start|ElapsedRaw|TimelimitRaw|NNodes|AllocCPUS|State"]
    for number, (submit, user, account, partition, width, run, most) in enumerate(sorted(jobs), 1):
        elapsed = max(1, min(int(run * scale), most * 60))
        limit = min(most, math.ceil(elapsed / 60 * (1 + 3 * draw.random())))
        start = submit + int(draw.expovariate(1 / 3600))
        lines.append(
            f"{number}|{user}|{account}|normal|{partition}|{submit}|{submit}|{start}|{elapsed}|{limit}|{width}|{16 * width}|COMPLETED"
        )
    accounts = ["Cluster - 'year':Fairshare=1:QOS='normal'", "Parent - 'root'", "User - 'root':DefaultAccount='root':Fairshare=1"]
    accounts += [f"Account - '{name}':Description='{name}':Organization='{name}':Fairshare={shares}" for name, shares in ACCOUNTS.items()]
    for name in ACCOUNTS:
        accounts += [f"Parent - '{name}'"] + [f"User - '{user}':DefaultAccount='{name}':Fairshare=1" for user, of in users if of == name]
    (folder / "slurm.conf").write_text(CONF)
    (folder / "cluster.cfg").write_text("\n".join(accounts) + "\n")
    (folder / "jobs.sacct").write_text("\n".join(lines) + "\n")


main()
