//! Jobs as CSV, `id,submit,run,limit,args`: seconds, seconds (`600+900` for a job that is requeued after its first run), a time limit as
//! `sbatch -t` takes it (a plain number is minutes), and further options of sbatch, which one table lists.

use crate::error::{Collector, Faults};
use crate::site::conf::YEAR;
use crate::site::text::second_of;
use crate::site::workload::{Begin, Dependency, DependencyKind, Memory, SubmittedJob, task};
use crate::site::{hostlist, text};
use std::collections::{BTreeMap, BTreeSet};

/// First line of a workload, which is optional.
const HEADING: &str = "id,submit,run,limit,args";

/// Reads a workload, ordered by time of submission and id.
///
/// # Errors
///
/// Returns all faults with line, column or option, and fix.
pub fn read_csv(file: &str, text: &str) -> Result<Vec<SubmittedJob>, Faults> {
    let mut faults = Collector::new(file);
    let mut jobs = Vec::new();
    let rows = (1..).zip(text.lines().map(str::trim_end));
    for (line, row) in rows.filter(|(_, row)| !row.is_empty() && !row.starts_with('#')) {
        if line == 1 && row.starts_with("id,") {
            if row != HEADING {
                faults.push(line, "heading", format_args!("expected {HEADING}, found {row:?}"));
            }
            continue;
        }
        let Some(job) = read_row(line, row, &mut faults) else { continue };
        if job.request.array.is_empty() {
            jobs.push(job);
            continue;
        }
        for index in &job.request.array {
            let id = task(job.id, *index).ok_or("the number of an array must be below 2097152; use a lower id");
            jobs.extend(faults.take(line, "array", id).map(|id| SubmittedJob { id, ..job.clone() }));
        }
    }
    jobs.sort_by_key(|job: &SubmittedJob| (job.submit, job.id));
    let mut lines = BTreeMap::new();
    for job in &jobs {
        if let Some(other) = lines.insert(job.id, job.line) {
            faults.push(job.line, "id", format_args!("job {} is on line {other}, too", job.id));
        }
    }
    faults.finish(jobs)
}

fn read_row(line: usize, row: &str, faults: &mut Collector) -> Option<SubmittedJob> {
    let columns: Vec<&str> = row.splitn(5, ',').collect();
    let &[id, submit, run, limit, args] = columns.as_slice() else {
        faults.push(line, "row", "expected id,submit,run,limit,args; add the missing columns");
        return None;
    };
    let mut whole = |name, value: &str| {
        faults.take(line, name, text::whole(value.trim()).ok_or("expected a whole number of at most nine digits"))
    };
    let (id, submit) = (whole("id", id), whole("submit", submit));
    let mut runs = run.split('+').map(|run| whole("run", run)).collect::<Option<Vec<i64>>>();
    let run = runs.as_mut().and_then(Vec::pop);
    let limit = match limit.trim() {
        "" => Some(None),
        given => faults.take(line, "limit", text::limit(given)),
    };
    let args = match args.trim().strip_prefix('"').and_then(|quoted| quoted.strip_suffix('"')) {
        Some(inner) => inner.replace("\"\"", "\""),
        None => args.trim().to_owned(),
    };
    let words = faults.take(line, "args", text::words(&args).ok_or("a quote is left open; close it"))?;
    let (mut job, mut words, mut is_sound) = (SubmittedJob { line, ..Default::default() }, words.into_iter(), true);
    while let Some(word) = words.next() {
        let result = option(&word, &mut words, &mut job);
        is_sound &= faults.take(line, &word, result).is_some();
    }
    (job.id, job.submit, job.run, job.earlier_runs) = (u32::try_from(id?).ok()?, submit?, run?, runs?);
    job.limit = job.limit.or(limit?);
    if job.request.name.is_empty() {
        // The recorder submits each job under its number.
        job.request.name = job.id.to_string();
    }
    is_sound.then_some(job)
}

/// Options that [`set`] reads: short name, long name, and `=` for a value, `?` for an optional value.
const USED: &str = "N:nodes= n:ntasks= c:cpus-per-task= ntasks-per-node= exclusive? t:time= time-min= nice? A:account= p:partition= \
    q:qos= b:begin= d:dependency= H:hold priority= w:nodelist= x:exclude= mem= mem-per-cpu= J:job-name= uid= user= a:array=";

/// Options without effect on a schedule.
const IGNORED: &str = "o:output= e:error= i:input= D:chdir= export= comment= mail-type= mail-user= open-mode= gid= wckey= signal= \
    parsable requeue no-requeue Q:quiet v:verbose k:no-kill? m:distribution=";

/// Options that require features outside the model.
const REFUSED: &str = "gres= G:gpus= gpus-per-node= gpus-per-task= gpus-per-socket= mem-per-gpu= cpus-per-gpu= L:licenses= \
    C:constraint= prefer= reservation= contiguous switches= S:core-spec= thread-spec= mincpus= tmp= deadline= s:oversubscribe \
    O:overcommit ntasks-per-core= ntasks-per-socket= spread-job use-min-nodes";

struct Entry {
    list: &'static str,
    short: Option<char>,
    long: &'static str,
    value: Option<char>,
}

fn entries() -> impl Iterator<Item = Entry> {
    [USED, IGNORED, REFUSED].into_iter().flat_map(|list| {
        list.split_whitespace().map(move |word| {
            let name = word.trim_end_matches(['=', '?']);
            let value = word[name.len()..].chars().next();
            let (short, long) = name.split_once(':').map_or((None, name), |(short, long)| (short.chars().next(), long));
            Entry { list, short, long, value }
        })
    })
}

/// One option, with its value from `word` or from the words that follow.
fn option(word: &str, words: &mut impl Iterator<Item = String>, job: &mut SubmittedJob) -> Result<(), String> {
    let (entry, attached) = if let Some(long) = word.strip_prefix("--") {
        let (name, value) = long.split_once('=').map_or((long, None), |(name, value)| (name, Some(value.to_owned())));
        let near = || text::nearest(name, entries().map(|entry| entry.long));
        let hint = || near().map_or("remove it".to_owned(), |near| format!("did you mean --{near}?"));
        let entry = entries().find(|entry| entry.long == name);
        (entry.ok_or_else(|| format!("unknown option of sbatch; {}", hint()))?, value)
    } else if let Some(short) = word.strip_prefix('-').and_then(|rest| rest.chars().next()) {
        let rest = &word[1 + short.len_utf8()..];
        let value = (!rest.is_empty()).then(|| rest.strip_prefix('=').unwrap_or(rest).to_owned());
        let entry = entries().find(|entry| entry.short == Some(short));
        (entry.ok_or("unknown option of sbatch; remove it")?, value)
    } else {
        return Err("expected an option of sbatch, such as -N 4; remove the script and its arguments".to_owned());
    };
    let value = match (entry.value, attached) {
        (None, Some(_)) => return Err("takes no value; remove it".to_owned()),
        (Some('='), None) => Some(words.next().ok_or("expected a value after it")?),
        (_, attached) => attached,
    };
    match entry.list {
        USED => set(entry.long, value.as_deref(), job),
        IGNORED => Ok(()),
        _ => Err("not modelled: only whole nodes are allocated; remove the option or the job".to_owned()),
    }
}

fn set(name: &str, value: Option<&str>, job: &mut SubmittedJob) -> Result<(), String> {
    let request = &mut job.request;
    let text = value.unwrap_or_default();
    let count = |text| text::whole(text).filter(|n| *n > 0_u32).ok_or("expected a whole number above 0");
    let owned = || Some(text.to_owned()).filter(|text| !text.is_empty()).ok_or("expected a name");
    let memory = || text::mebibytes(text).ok_or("expected memory such as 4000 (MiB) or 4G");
    match name {
        "nodes" => {
            let is_whole = |text| text::whole::<u32>(text).is_some();
            request.nodes = Some(match text.split_once('-') {
                Some((least, most)) if least == most => count(least)?,
                Some((least, most)) if is_whole(least) && is_whole(most) => {
                    return Err("a range of nodes is not modelled; give one number".to_owned());
                }
                _ => count(text)?,
            });
        }
        "ntasks" => request.tasks = Some(count(text)?),
        "cpus-per-task" => request.cpus_per_task = Some(count(text)?),
        "ntasks-per-node" => request.tasks_per_node = Some(count(text)?),
        "exclusive" if value.is_none() => request.exclusive = true,
        "exclusive" => return Err("only whole nodes are modelled; write --exclusive without a value".to_owned()),
        "time" => job.limit = text::limit(text)?.or(Some(YEAR)),
        "time-min" => request.time_min = text::limit(text)?,
        "nice" if value.is_none() => request.nice = 100,
        "nice" => {
            let (sign, digits) = text.strip_prefix('-').map_or((1, text), |digits| (-1, digits));
            request.nice = sign * text::whole::<i64>(digits).ok_or("expected a whole number")?;
        }
        "account" => request.account = Some(owned()?),
        "partition" => request.partitions = text::list(text).map(str::to_owned).collect(),
        "qos" => request.qos = Some(owned()?),
        "begin" => request.begin = Some(begin(text)?),
        "dependency" => request.dependencies = dependencies(text)?,
        "hold" => request.hold = true,
        "priority" => {
            let number = text.parse().ok().filter(|number| *number < u32::MAX);
            request.priority = Some(number.ok_or("expected a whole number below 4294967295")?);
        }
        "nodelist" => request.required = hostlist::expand(text)?,
        "exclude" => request.excluded = hostlist::expand(text)?,
        "mem" => request.memory = Some(Memory::PerNode(memory()?)),
        "mem-per-cpu" => request.memory = Some(Memory::PerCpu(memory()?)),
        "array" => (request.array, request.most_tasks) = tasks(text)?,
        "job-name" => text.clone_into(&mut request.name),
        _ => request.user = Some(owned()?),
    }
    Ok(())
}

/// Indices of the tasks of an array, and the most that run at a time, such as `0-7:2,9%3`.
fn tasks(text: &str) -> Result<(Vec<u32>, Option<u32>), String> {
    const FORM: &str = "expected indices below 1024 such as 1-9, 0-8:2, 1,3 or 1-9%2";
    let whole = |text| text::whole::<u32>(text).filter(|n| *n < 1024).ok_or(FORM);
    let (text, most) = text.split_once('%').map_or((text, None), |(text, most)| (text, Some(most)));
    let mut found = BTreeSet::new();
    for part in text.split(',') {
        let (range, step) = part.split_once(':').unwrap_or((part, "1"));
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let step = whole(step)?.max(1) as usize;
        found.extend((whole(first)?..=whole(last)?).step_by(step));
    }
    // As for sbatch, 0 is no limit.
    Ok((found.into_iter().collect(), most.map(whole).transpose()?.filter(|most| *most > 0)))
}

/// Parses `now`, `now+2hours`, or a time, of which the seconds or the whole clock may be left out.
fn begin(text: &str) -> Result<Begin, String> {
    let after = |rest: &str| {
        let rest = if rest.is_empty() { "0" } else { rest.strip_prefix('+')? };
        let digits = rest.trim_end_matches(|c: char| c.is_ascii_alphabetic());
        let unit = match &rest[digits.len()..] {
            "" | "second" | "seconds" => 1,
            "minute" | "minutes" => 60,
            "hour" | "hours" => 3600,
            "day" | "days" => 86_400,
            "week" | "weeks" => 604_800,
            _ => return None,
        };
        text::whole::<i64>(digits).map(|n| Begin::After(n * unit))
    };
    let at = || ["", ":00", "T00:00:00"].iter().find_map(|end| second_of(&format!("{text}{end}"))).map(Begin::At);
    let found = text.strip_prefix("now").map_or_else(at, after);
    found.ok_or_else(|| "expected now+60, now+2hours or a time such as 2026-01-31T08:00:00".to_owned())
}

/// Conditions separated by `,` (all) or `?` (any one).
fn dependencies(text: &str) -> Result<Vec<Vec<Dependency>>, String> {
    let any = text.contains('?');
    if any && text.contains(',') {
        return Err("',' and '?' cannot be mixed; use one of them".to_owned());
    }
    let conditions = text.split([',', '?']).filter(|condition| !condition.is_empty());
    let all = conditions.map(condition_on_jobs).collect::<Result<Vec<_>, String>>()?.concat();
    Ok(if any { vec![all] } else { all.into_iter().map(|one| vec![one]).collect() })
}

fn condition_on_jobs(condition: &str) -> Result<Vec<Dependency>, String> {
    let (word, jobs) = condition.split_once(':').unwrap_or((condition, ""));
    let kind = match word {
        "after" => DependencyKind::After(0),
        "afterany" => DependencyKind::AfterAny,
        "afterok" => DependencyKind::AfterOk,
        "afternotok" => DependencyKind::AfterNotOk,
        "aftercorr" => DependencyKind::AfterCorr,
        "singleton" if jobs.is_empty() => return Ok(vec![Dependency { kind: DependencyKind::Singleton, job: None }]),
        _ => return Err("expected after, afterany, afterok, aftercorr, afternotok or singleton".to_owned()),
    };
    let mut all = Vec::new();
    for job in jobs.split(':') {
        let (id, delay) = job.split_once('+').map_or((job, None), |(id, delay)| (id, Some(delay)));
        let id = text::whole(id).ok_or("expected a job such as 12")?;
        let kind = match (kind, delay.map(text::whole::<i64>)) {
            (kind, None) => kind,
            (DependencyKind::After(_), Some(minutes)) => {
                DependencyKind::After(60 * minutes.ok_or("expected minutes after +")?)
            }
            _ => return Err("only after:JOB+MINUTES has a delay; remove it".to_owned()),
        };
        all.push(Dependency { kind, job: Some(id) });
    }
    Ok(all)
}
