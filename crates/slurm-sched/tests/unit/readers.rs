//! Readers of a site's files: tables of values and faults, and random input.

use crate::error::Faults;
use crate::site::accounts::Accounts;
use crate::site::conf::{Conf, YEAR};
use crate::site::hostlist;
use crate::site::workload::{Begin, Dependency, DependencyKind, Memory, Request, SubmittedJob};
use crate::{Version, read_csv};
use proptest::prelude::*;

const CLUSTER: &str = "NodeName=n[1-8] CPUs=4 RealMemory=1000\nPartitionName=main Nodes=ALL Default=YES\n";

fn read(lines: &str, overlays: &[&str]) -> Result<Conf, Faults> {
    Conf::read("slurm.conf", &format!("{CLUSTER}{lines}"), Version::V22_05, overlays)
}

#[test]
fn node_lists_are_read_and_printed_as_slurm_does() {
    for (list, names, printed) in [
        ("", "", ""),
        ("n1", "n1", "n1"),
        ("n[1-3,8]", "n1 n2 n3 n8", "n[1-3,8]"),
        ("n[9-11]", "n9 n10 n11", "n[9-11]"),
        ("n[01-02],n10", "n01 n02 n10", "n[01-02,10]"),
        ("rack[1-2]n[01-02]", "rack1n01 rack1n02 rack2n01 rack2n02", "rack1n[01-02],rack2n[01-02]"),
        ("login,n[1-2],login-2", "login n1 n2 login-2", "login,n[1-2],login-2"),
        ("n[3,1]", "n3 n1", "n[3,1]"),
        ("n1-ib[1-2]", "n1-ib1 n1-ib2", "n1-ib[1-2]"),
        ("n[1-2]x", "n1x n2x", "n1x,n2x"),
        ("n1,n01", "n1 n01", "n[1,01]"),
    ] {
        let expanded = hostlist::expand(list).expect(list);
        assert_eq!(expanded.join(" "), names, "{list}");
        assert_eq!(hostlist::fold(&expanded), printed, "{list}");
    }
    for (list, column, fault) in [
        ("n[1-3", 6, "unbalanced bracket; write ranges as n[1-4,7]"),
        ("n]", 2, "unbalanced bracket; write ranges as n[1-4,7]"),
        ("n[a]", 3, "expected a number or a range such as 1-4 between brackets"),
        ("n[3-1]", 3, "the range runs backwards; write the smaller number first"),
        ("n1,,n2", 4, "empty name; remove the extra comma"),
        ("n[1-999999999]", 3, "expands to more than 262144 names; check the range"),
        ("a b", 1, "node names have letters, digits, '-', '_' and '.' only"),
    ] {
        let found = hostlist::expand(list).expect_err(list).to_string();
        assert_eq!(found, format!("node list {list:?}, column {column}: {fault}"));
    }
}

#[test]
fn a_configuration_of_a_site_is_read_as_slurmctld_reads_it() {
    let text = "# A comment\nClusterName=site # another\nschedulerparameters=bf_window=2880,BF_MAX_JOB_TEST=1000,\\\nbf_continue,bf_max_job_user=10\n\
        NodeName=DEFAULT Sockets=2 CoresPerSocket=8 ThreadsPerCore=2 RealMemory=64000 Weight=5\n\
        NodeName=a[01-04] Features=big,ib Gres=gpu:a100:4,shard:8 Weight=10\nNodeName=b[1-2] CPUs=4 State=DRAIN\nNodeName=c1\n\
        DownNodes=c1 State=DOWN Reason=\"no power\"\nNodeSet=large Feature=big\n\
        PartitionName=DEFAULT MaxTime=7-00:00:00 DefaultTime=1:00:00 PriorityTier=3\n\
        PartitionName=all Nodes=ALL Default=yes OverSubscribe=EXCLUSIVE TRESBillingWeights=\"CPU=1.0,Mem=0.25G\"\n\
        PartitionName=big Nodes=large,b1 MaxTime=UNLIMITED MaxNodes=2 MinNodes=2 State=DRAIN PriorityJobFactor=9 QOS=part\n\
        PriorityType=priority/multifactor\nPriorityDecayHalfLife=14-0\nPriorityCalcPeriod=2\nPriorityMaxAge=1-12:30\nPriorityWeightAge=10\n\
        PriorityFlags=NO_FAIR_TREE,ACCRUE_ALWAYS\nPriorityUsageResetPeriod=MONTHLY\nAccountingStorageEnforce=safe\n\
        KillWait=60\nOverTimeLimit=5\nSelectTypeParameters=CR_Core_Memory\nEpilog=/etc/epilog\nLicenses=matlab:5\n";
    let conf = Conf::read("slurm.conf", text, Version::V24_11, &[]).expect("valid");
    let names: Vec<&str> = conf.nodes.iter().map(|node| node.name.as_str()).collect();
    assert_eq!(names, ["a01", "a02", "a03", "a04", "b1", "b2", "c1"]);
    let nodes: Vec<_> = conf.nodes.iter().map(|node| (node.cpus, node.weight, node.up)).collect();
    assert_eq!(nodes[3..], [(32, 10, true), (4, 5, false), (4, 5, false), (32, 5, false)]);
    let [all, big] = &conf.partitions[..] else { panic!("two partitions") };
    assert_eq!((all.nodes.len(), all.priority_tier, all.exclusive), (7, 3, true));
    assert_eq!((all.max_time, all.default_time), (Some(7 * 86_400), Some(3600)));
    assert_eq!(all.billing, [("cpu".to_owned(), 1.0), ("mem".to_owned(), 0.25 / 1024.0)]);
    assert_eq!((&big.nodes[..], big.max_time, big.max_nodes, big.min_nodes), (&[0, 1, 2, 3, 4][..], None, Some(2), 2));
    assert_eq!((big.starts_jobs, big.priority_job_factor, big.qos.as_deref()), (true, 9, Some("part")));
    let scheduling = &conf.scheduling;
    assert_eq!((scheduling.bf_max_job_test, scheduling.bf_node_space_size), (1000, 1000));
    assert_eq!((scheduling.bf_window, scheduling.assoc_limit_stop, scheduling.bf_max_job_user), (172_800, false, 10));
    assert_eq!((scheduling.bf_interval, scheduling.default_queue_depth), (30, 100));
    let priority = &conf.priority;
    assert_eq!((priority.half_life, priority.calc_period, priority.max_age), (14 * 86_400, 120, 131_400));
    assert!(priority.has("NO_FAIR_TREE") && priority.has("ACCRUE_ALWAYS") && priority.reset == "MONTHLY");
    assert!(conf.enforces_limits && conf.memory_counts);
    assert_eq!((conf.kill_wait, all.over_time_limit), (60, 300));
    let listed: Vec<&str> = conf.not_modelled.iter().filter_map(|one| one.split([' ', '=']).nth(1)).collect();
    let idle = ["PriorityWeightAge", "PriorityDecayHalfLife", "PriorityMaxAge", "PriorityUsageResetPeriod"];
    assert_eq!(listed, [&["Epilog", "Licenses", "SchedulerParameters"], &idle[..]].concat());
    assert_eq!(conf.not_modelled[0], "slurm.conf:25: Epilog");
    // A year stands for an infinite limit.
    let conf = read("OverTimeLimit=UNLIMITED\nPartitionName=p Nodes=n1 OverTimeLimit=INFINITE", &[]).expect("valid");
    assert_eq!([0, 1].map(|at| conf.partitions[at].over_time_limit), [YEAR; 2]);
}

#[test]
fn an_overlay_changes_one_setting_and_leaves_the_others() {
    let file =
        "SchedulerParameters=bf_max_job_test=50,bf_window=60\nPartitionName=low Nodes=n1 PriorityTier=1 MaxTime=60\n";
    let check = |overlays: &[&str], expected| {
        let conf = read(file, overlays).expect("valid");
        let (scheduling, low) = (&conf.scheduling, &conf.partitions[1]);
        let bf = (scheduling.bf_max_job_test, scheduling.bf_window);
        assert_eq!((bf, conf.priority.half_life, low.priority_tier, low.max_time), expected, "{overlays:?}");
    };
    check(&[], ((50, 3600), 604_800, 1, Some(3600)));
    check(&["SchedulerParameters=bf_max_job_test=1000"], ((1000, 3600), 604_800, 1, Some(3600)));
    check(&["bf_max_job_test=7", "bf_window=2"], ((7, 120), 604_800, 1, Some(3600)));
    check(&["PriorityDecayHalfLife=3-0"], ((50, 3600), 259_200, 1, Some(3600)));
    check(&["PartitionName=low PriorityTier=5 MaxTime=INFINITE"], ((50, 3600), 604_800, 5, None));
    let faults =
        read(file, &["bf_max_job_tset=7", "PartitionName=none PriorityTier=5", "KillWait=x"]).expect_err("faults");
    assert_eq!(
        faults.to_string(),
        "--set bf_max_job_tset=7: bf_max_job_tset: unknown parameter of SchedulerParameters; did you mean bf_max_job_test?\n\
        --set PartitionName=none PriorityTier=5: PartitionName: no line with PartitionName=none; use a name as the file writes it\n\
        --set KillWait=x: KillWait: expected a number of seconds, found \"x\""
    );
}

#[test]
fn a_setting_that_would_change_decisions_is_refused_with_its_place_and_fix() {
    for (line, fault) in [
        (
            "PreemptType=preempt/qos",
            "PreemptType: \"preempt/qos\" is not modelled and changes decisions; preemption is not modelled: set PreemptType=preempt/none",
        ),
        (
            "SelectTypeParameters=CR_Core,CR_LLN",
            "SelectTypeParameters: \"CR_Core,CR_LLN\" is not modelled and changes decisions; remove the value",
        ),
        (
            "TopologyPlugin=topology/tree",
            "TopologyPlugin: \"topology/tree\" is not modelled and changes decisions; remove the line",
        ),
        (
            "SchedulerParameters=bf_licenses",
            "bf_licenses: is not modelled and changes decisions; remove it from SchedulerParameters",
        ),
        ("SchedulerParameters=bf_resolution=0", "bf_resolution: expected a whole number from 1 to 3600, found \"0\""),
        ("PriorityWieghtAge=5", "PriorityWieghtAge: unknown key; did you mean PriorityWeightAge?"),
        ("PriorityFlags=MAGIC", "PriorityFlags: \"MAGIC\" is not modelled; remove it, found \"MAGIC\""),
        (
            "AccountingStorageEnforce=limit",
            "AccountingStorageEnforce: expected some of associations, limits, qos, safe, wckeys, all, found \"limit\"",
        ),
        (
            "PartitionName=p Nodes=n[1-2] OverSubscribe=FORCE:4",
            "OverSubscribe: jobs that share CPUs are not modelled; set OverSubscribe=NO or EXCLUSIVE",
        ),
        ("PartitionName=p Nodes=n9", "Nodes: no node is called \"n9\"; add its NodeName line"),
        (
            "PartitionName=p Nodes=n1 MaxTime=1:2:3:4",
            "MaxTime: expected minutes, minutes:seconds, hours:minutes:seconds, days-hours[:minutes[:seconds]] or UNLIMITED",
        ),
        ("NodeName=n1 CPUs=4", "NodeName: node n1 is defined twice; remove one line"),
        ("NodeName=m1 CPUs=x", "CPUs: expected a whole number above 0, found \"x\""),
        ("Include other.conf", "Include: other.conf: included files are not read here; insert the file's lines"),
        ("KillWait 30", "KillWait 30: expected Key=Value; quote values that have blanks"),
        ("MailProg=\"a b", "MailProg: a quote is left open; close it"),
    ] {
        assert_eq!(read(line, &[]).expect_err(line).to_string(), format!("slurm.conf:3: {fault}"));
    }
    let Some(preempt) = test_data::slurm("fixtures/preempt.slurm.conf") else { return };
    let faults = Conf::load(&preempt, Version::V22_05, &[]).expect_err("preempts").0;
    assert_eq!(faults.iter().map(|fault| fault.key.as_str()).collect::<Vec<_>>(), ["PreemptType"]);
    for name in ["w1", "w3", "w4", "tie"] {
        let Some(path) = test_data::slurm(&format!("fixtures/{name}.slurm.conf")) else { return };
        let conf = Conf::load(&path, Version::V22_05, &[]).expect("valid");
        assert_eq!((conf.nodes.len(), conf.partitions.len(), conf.scheduling.bf_interval), (8, 1, 30), "{name}");
    }
}

#[test]
fn accounts_are_read_with_shares_limits_and_qos() {
    let text = "# comment\nCluster - 'c':Fairshare=1:QOS='normal':MaxWallDurationPerJob=1440\nParent - 'root'\n\
        User - 'root':DefaultAccount='root':AdminLevel='Administrator':Fairshare=1\n\
        Account - 'phys':Description='physics: all of it':Organization='o':Fairshare=40:GrpTRES=cpu=128,mem=2T,gres/gpu=4:MaxJobs=10\n\
        Parent - 'phys'\nUser - 'ann':DefaultAccount='phys':Fairshare=parent:QOS='normal,high':DefaultQOS='high'\n\
        User - 'bob':Fairshare=3:Partition='big':MaxTRESMinsPerJob=cpu=600:GrpJobs=-1:GrpWall=60\nUser - 'bob':DefaultAccount='phys'\n\
        QOS - 'high':Priority=100:UsageFactor=0.5:MaxJobsPerUser=4:MaxTRESPerUser=node=8:MaxWall=2-0:Flags=NoDecay\n\
        Name|Priority|UsageFactor|MaxTRESPU|MaxJobsPU|Flags|\nslow|5|2.000000|cpu=64||DenyOnLimit|\n";
    let accounts = Accounts::read("cluster.cfg", text).expect("valid");
    let own: Vec<_> = accounts.associations.iter().map(|own| (own.parent, own.user.as_deref(), own.shares)).collect();
    assert_eq!(
        own,
        [
            (None, None, Some(1)),
            (Some(0), Some("root"), Some(1)),
            (Some(0), None, Some(40)),
            (Some(2), Some("ann"), None),
            (Some(2), Some("bob"), Some(3)),
            (Some(2), Some("bob"), Some(1))
        ]
    );
    let phys = &accounts.associations[2].limits;
    assert_eq!(phys[4], [Some(128), Some(2 << 20), None]);
    assert_eq!((phys[1][0], accounts.associations[0].limits[3][0]), (Some(10), Some(86_400)));
    let find = |account, user, partition| accounts.association(account, user, partition);
    assert_eq!((find(None, "bob", Some("big")), find(None, "bob", Some("main"))), (Some(4), Some(5)));
    assert_eq!(find(Some("phys"), "bob", Some("big")), Some(4));
    assert_eq!(find(Some("phys"), "bob", Some("main")), Some(5));
    assert_eq!((find(Some("phys"), "eve", None), find(Some("none"), "bob", None)), (None, None));
    let qos: Vec<_> = accounts.qos.iter().map(|qos| (qos.name.as_str(), qos.priority, qos.usage_factor)).collect();
    assert_eq!(qos, [("normal", 0, 1.0), ("high", 100, 0.5), ("slow", 5, 2.0)]);
    assert!(accounts.qos[1].has("nodecay") && accounts.qos[1].limits[3][0] == Some(172_800));
    assert_eq!((accounts.qos[2].limits[5][0], accounts.qos[2].limits[1][0]), (Some(64), None));
    assert_eq!(accounts.not_modelled, ["cluster.cfg:8: GrpWall"]);
    assert_eq!([3, 5].map(|at| accounts.default_qos(at)), [Some(1), Some(0)]);
    for (line, fault) in [
        ("Parent - 'x'", "Parent: no account \"x\" above this line; add it before"),
        ("Account - 'root'", "Account: the account is there already; remove one of the lines"),
        ("Account - 'a':Fairshare=many", "Fairshare: expected a number or parent"),
        ("Account - 'a':MaxJobs=x", "MaxJobs: expected a whole number, or -1 for no limit"),
        ("Account - 'a':GrpTRES=5", "GrpTRES: expected amounts such as cpu=100,mem=4G,node=8"),
        ("Account - 'a':Grp", "Grp: expected Key=Value between colons"),
        ("Account - 'a':MaxJbos=5", "MaxJbos: unknown key; remove it"),
        ("hello", "row: expected a line such as Account - 'physics':Fairshare=10"),
        ("a|b", "row: expected the heading Name|Priority|… of `sacctmgr --parsable2 show qos` before it"),
    ] {
        assert_eq!(Accounts::read("cluster.cfg", line).expect_err(line).to_string(), format!("cluster.cfg:1: {fault}"));
    }
}

#[test]
fn options_of_sbatch_are_read_and_what_needs_parts_of_nodes_is_refused() {
    let text = "id,submit,run,limit,args\n\
        2,20,300,1:30,\"-N2 --exclusive -p a,b --nice --qos=high -A phys --uid ann --begin=now+2hours -J \"\"my job\"\"\"\n\
        1,10,300,10,-N 3 --ntasks-per-node=4 -n 12 -H --time-min 5 -w n[1-2] -x n8 --mem 0 --no-requeue --priority=77\n\
        9,30,60,,-n 8 -d afterok:1:2,singleton --nice=-5 -t 2-0 --mem-per-cpu=2G\n\
        10,30,60,5,-N 1 -n 4 -d after:9+5?afterany:2 -b 2026-01-31T08:00\n";
    let jobs = read_csv("w.csv", text).expect("valid");
    let own = jobs.iter().map(|job| (job.id, job.line, job.submit, job.limit));
    let expected = [(1, 3, 10, Some(600)), (2, 2, 20, Some(120)), (9, 4, 30, Some(172_800)), (10, 5, 30, Some(300))];
    assert_eq!(own.collect::<Vec<_>>(), expected);
    let [one, two, three, four] = [0, 1, 2, 3].map(|at| jobs[at].request.clone());
    let names = |words: &str| words.split(' ').map(str::to_owned).collect::<Vec<_>>();
    let expected = Request {
        user: Some("ann".to_owned()),
        account: Some("phys".to_owned()),
        qos: Some("high".to_owned()),
        name: "my job".to_owned(),
        partitions: names("a b"),
        nodes: Some(2),
        exclusive: true,
        nice: 100,
        begin: Some(Begin::After(7200)),
        ..Request::default()
    };
    assert_eq!(two, expected);
    let expected = Request {
        name: "1".to_owned(),
        nodes: Some(3),
        tasks: Some(12),
        tasks_per_node: Some(4),
        memory: Some(Memory::PerNode(0)),
        time_min: Some(300),
        priority: Some(77),
        hold: true,
        required: names("n1 n2"),
        excluded: names("n8"),
        ..Request::default()
    };
    assert_eq!(one, expected);
    let [ok, after] = [DependencyKind::AfterOk, DependencyKind::After(300)];
    let on = |kind, job| Dependency { kind, job: Some(job) };
    let singleton = Dependency { kind: DependencyKind::Singleton, job: None };
    assert_eq!(three.dependencies, [vec![on(ok, 1)], vec![on(ok, 2)], vec![singleton]]);
    assert_eq!((three.nice, three.memory), (-5, Some(Memory::PerCpu(2048))));
    assert_eq!(four.dependencies, [vec![on(after, 9), on(DependencyKind::AfterAny, 2)]]);
    assert_eq!(four.begin, Some(Begin::At(1_769_846_400)));
    let conf = read("", &[]).expect("valid");
    let nodes = |job: &SubmittedJob| job.whole_nodes(&conf, &conf.partitions[0]);
    assert_eq!([0, 1, 2, 3].map(|at| nodes(&jobs[at])), [Ok(3), Ok(2), Ok(2), Ok(1)]);
    let refused = "not modelled: only whole nodes are allocated; remove the option or the job";
    for (args, option, fault) in [
        ("--gres=gpu:1", "--gres=gpu:1", refused),
        ("-C big", "-C", refused),
        ("-a 1-9%x", "-a", "expected indices below 1024 such as 1-9, 0-8:2, 1,3 or 1-9%2"),
        ("--exlusive", "--exlusive", "unknown option of sbatch; did you mean --exclusive?"),
        ("-N 2-4", "-N", "a range of nodes is not modelled; give one number"),
        ("-N", "-N", "expected a value after it"),
        ("-d later:3", "-d", "expected after, afterany, afterok, aftercorr, afternotok or singleton"),
        ("--begin tomorrow", "--begin", "expected now+60, now+2hours or a time such as 2026-01-31T08:00:00"),
        ("job.sh", "job.sh", "expected an option of sbatch, such as -N 4; remove the script and its arguments"),
    ] {
        let found = read_csv("w.csv", &format!("1,0,1,1,{args}")).expect_err(args).to_string();
        assert_eq!(found, format!("w.csv:1: {option}: {fault}"));
    }
    for (args, reason) in [
        ("-n 3", "3 CPUs on 1 nodes of 4 share nodes with other jobs, which is not modelled; add --exclusive"),
        ("-N 1 -n 5", "5 CPUs do not fit on 1 nodes of 4; raise -N or lower -n and -c"),
    ] {
        let jobs = read_csv("w.csv", &format!("1,0,1,1,{args}")).expect("valid");
        assert_eq!(nodes(&jobs[0]), Err(reason.to_owned()));
    }
    for (text, fault) in [
        ("1,0,1,1,\n1,0,1,1,", "w.csv:2: id: job 1 is on line 1, too"),
        (
            "id,run,submit,limit,args\n1,0,1,1,",
            "w.csv:1: heading: expected id,submit,run,limit,args, found \"id,run,submit,limit,args\"",
        ),
    ] {
        assert_eq!(read_csv("w.csv", text).expect_err(text).to_string(), fault);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(5000))]

    #[test]
    fn names_survive_printing_and_reading(names in prop::collection::vec("[a-z]{1,3}(-[a-z])?[0-9]{0,3}", 0..20)) {
        prop_assert_eq!(hostlist::expand(&hostlist::fold(&names)).expect("printed"), names);
    }
}
