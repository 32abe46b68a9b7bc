//! Options of sbatch, from one table.

use super::request::{Array, Begin, Dependency, DependencyKind, Memory, Request};
use crate::error::Collector;
use crate::{hostlist, text};

/// Options that [`set`] reads: short name, long name, and `=` for a value, `?` for one that may be left out.
const USED: &str = "N:nodes= n:ntasks= c:cpus-per-task= ntasks-per-node= exclusive? t:time= time-min= nice? A:account= p:partition= \
    q:qos= b:begin= d:dependency= a:array= H:hold priority= w:nodelist= x:exclude= mem= mem-per-cpu= J:job-name= uid= user= \
    requeue no-requeue";

/// Options of no effect on a schedule.
const IGNORED: &str = "o:output= e:error= i:input= D:chdir= export= comment= mail-type= mail-user= open-mode= gid= wckey= signal= \
    parsable Q:quiet v:verbose k:no-kill? m:distribution=";

/// Options that need what is not modelled.
const REFUSED: &str = "gres= G:gpus= gpus-per-node= gpus-per-task= gpus-per-socket= mem-per-gpu= cpus-per-gpu= L:licenses= \
    C:constraint= prefer= reservation= contiguous switches= S:core-spec= thread-spec= mincpus= tmp= deadline= s:oversubscribe \
    O:overcommit ntasks-per-core= ntasks-per-socket= spread-job use-min-nodes";

/// One entry of the lists above.
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

/// Parses `args`, or reports each fault and returns nothing.
pub(super) fn parse(line: usize, args: &str, faults: &mut Collector) -> Option<Request> {
    let Some(words) = text::words(args) else {
        faults.push(line, "args", "a quote is left open; close it");
        return None;
    };
    let mut request = Request::default();
    let mut sound = true;
    let mut words = words.into_iter();
    while let Some(word) = words.next() {
        let result = option(&word, &mut words, &mut request);
        sound &= faults.take(line, &word, result).is_some();
    }
    sound.then_some(request)
}

/// One option, with its value from `word` or from the words that follow.
fn option(word: &str, words: &mut impl Iterator<Item = String>, request: &mut Request) -> Result<(), String> {
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
        USED => set(entry.long, value.as_deref(), request),
        IGNORED => Ok(()),
        _ => Err("not modelled: only whole nodes are allocated; remove the option or the job".to_owned()),
    }
}

fn set(name: &str, value: Option<&str>, request: &mut Request) -> Result<(), String> {
    let text = value.unwrap_or_default();
    let count = || match text::whole(text).map(u32::try_from) {
        Some(Ok(n)) if n > 0 => Ok(n),
        _ => Err("expected a whole number above 0".to_owned()),
    };
    let owned = || Some(text.to_owned()).filter(|text| !text.is_empty()).ok_or("expected a name");
    let memory = || text::mebibytes(text).ok_or("expected memory such as 4000 (MiB) or 4G");
    match name {
        "nodes" => request.nodes = Some(nodes(text)?),
        "ntasks" => request.tasks = Some(count()?),
        "cpus-per-task" => request.cpus_per_task = Some(count()?),
        "ntasks-per-node" => request.tasks_per_node = Some(count()?),
        "exclusive" if value.is_none() => request.exclusive = true,
        "exclusive" => return Err("only whole nodes are modelled; write --exclusive without a value".to_owned()),
        "time" => request.limit = text::limit(text)?.or(Some(crate::conf::YEAR)),
        "time-min" => request.time_min = text::limit(text)?,
        "nice" => request.nice = if value.is_none() { 100 } else { nice(text)? },
        "account" => request.account = Some(owned()?),
        "partition" => request.partitions = text::list(text).map(str::to_owned).collect(),
        "qos" => request.qos = Some(owned()?),
        "begin" => request.begin = Some(begin(text)?),
        "dependency" => request.dependencies = dependencies(text)?,
        "array" => request.array = Some(array(text)?),
        "hold" => request.hold = true,
        "priority" => request.priority = Some(priority(text)?),
        "nodelist" => request.required = hostlist::expand(text).map_err(|error| error.to_string())?,
        "exclude" => request.excluded = hostlist::expand(text).map_err(|error| error.to_string())?,
        "mem" => request.memory = Some(Memory::PerNode(memory()?)),
        "mem-per-cpu" => request.memory = Some(Memory::PerCpu(memory()?)),
        "job-name" => text.clone_into(&mut request.name),
        "uid" | "user" => request.user = Some(owned()?),
        "requeue" => request.requeue = Some(true),
        _ => request.requeue = Some(false),
    }
    Ok(())
}

fn nodes(text: &str) -> Result<u32, String> {
    let (least, most) = text.split_once('-').unwrap_or((text, text));
    match text::whole(least).map(u32::try_from) {
        Some(Ok(n)) if n > 0 && least == most => Ok(n),
        Some(Ok(_)) if text::whole(most).is_some() && least != most => {
            Err("a range of nodes is not modelled; give one number".to_owned())
        }
        _ => Err("expected a whole number above 0".to_owned()),
    }
}

fn nice(text: &str) -> Result<i64, String> {
    let (sign, digits) = text.strip_prefix('-').map_or((1, text), |digits| (-1, digits));
    text::whole(digits).map(|n| sign * n).ok_or_else(|| "expected a whole number".to_owned())
}

fn priority(text: &str) -> Result<u32, String> {
    text.parse().ok().filter(|p| *p < u32::MAX).ok_or_else(|| "expected a whole number below 4294967295".to_owned())
}

fn begin(text: &str) -> Result<Begin, String> {
    const FORMS: &str = "expected now+60, now+2hours or a time such as 2026-01-31T08:00:00";
    if let Some(rest) = text.strip_prefix("now") {
        let rest = match rest.strip_prefix('+') {
            Some(rest) => rest,
            None if rest.is_empty() => return Ok(Begin::After(0)),
            None => return Err(FORMS.to_owned()),
        };
        let digits = rest.trim_end_matches(|c: char| c.is_ascii_alphabetic());
        let unit = match &rest[digits.len()..] {
            "" | "second" | "seconds" => 1,
            "minute" | "minutes" => 60,
            "hour" | "hours" => 3600,
            "day" | "days" => 86_400,
            "week" | "weeks" => 604_800,
            _ => return Err(FORMS.to_owned()),
        };
        return text::whole(digits).map(|n| Begin::After(n * unit)).ok_or_else(|| FORMS.to_owned());
    }
    let (day, clock) = text.split_once('T').unwrap_or((text, "0:0:0"));
    let numbers = |text: &str, separator| -> Option<Vec<i64>> { text.split(separator).map(text::whole).collect() };
    match (numbers(day, '-').as_deref(), numbers(clock, ':').as_deref()) {
        (
            Some(&[year @ 1970..=9999, month @ 1..=12, day @ 1..=31]),
            Some(&[hour @ 0..24, minute @ 0..60, ref second @ ..]),
        ) if second.len() < 2 && second.iter().all(|s| *s < 60) => {
            let days = crate::calendar::day_of(year, month, day);
            Ok(Begin::At(days * 86_400 + hour * 3600 + minute * 60 + second.first().unwrap_or(&0)))
        }
        _ => Err(FORMS.to_owned()),
    }
}

/// Conditions separated by `,` (all) or `?` (any one).
fn dependencies(text: &str) -> Result<Vec<Vec<Dependency>>, String> {
    let any = text.contains('?');
    if any && text.contains(',') {
        return Err("',' and '?' cannot be mixed; use one of them".to_owned());
    }
    let mut all = Vec::new();
    for condition in text.split([',', '?']).filter(|condition| !condition.is_empty()) {
        all.extend(condition_on_jobs(condition)?);
    }
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
        _ => return Err("expected after, afterany, afterok, afternotok, aftercorr or singleton".to_owned()),
    };
    let mut all = Vec::new();
    for job in jobs.split(':') {
        let (id, delay) = job.split_once('+').map_or((job, None), |(id, delay)| (id, Some(delay)));
        let (id, task) = id.split_once('_').map_or((id, None), |(id, task)| (id, Some(task)));
        let number =
            |text| text::whole(text).and_then(|n| u32::try_from(n).ok()).ok_or("expected a job such as 12 or 12_3");
        let job = Some((number(id)?, task.map(number).transpose()?));
        let kind = match (kind, delay) {
            (kind, None) => kind,
            (DependencyKind::After(_), Some(minutes)) => {
                DependencyKind::After(60 * text::whole(minutes).ok_or("expected minutes after +")?)
            }
            _ => return Err("only after:JOB+MINUTES has a delay; remove it".to_owned()),
        };
        all.push(Dependency { kind, job });
    }
    Ok(all)
}

/// `0-15:4,20%2`.
fn array(text: &str) -> Result<Array, String> {
    const FORM: &str = "expected indices such as 0-15, 1,3,5 or 0-15:4%2, up to 4000000";
    let (indices, at_once) = text.split_once('%').map_or((text, None), |(indices, most)| (indices, Some(most)));
    let number = |text| text::whole(text).and_then(|n| u32::try_from(n).ok()).filter(|n| *n <= 4_000_000).ok_or(FORM);
    let mut tasks = Vec::new();
    for range in indices.split(',') {
        let (range, step) = range.split_once(':').unwrap_or((range, "1"));
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let (first, last, step) = (number(first)?, number(last)?, number(step)?);
        if last < first || step == 0 || tasks.len() > 4_000_000 {
            return Err(FORM.to_owned());
        }
        tasks.extend((first..=last).step_by(usize::try_from(step).map_err(|_| FORM)?));
    }
    tasks.sort_unstable();
    tasks.dedup();
    let at_once = at_once.map(number).transpose()?.filter(|most| *most > 0);
    Ok(Array { tasks, at_once })
}
