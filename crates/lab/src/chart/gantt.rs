//! A schedule: jobs as rectangles over time and processors.

use super::Axis;
use super::canvas::{AXIS, Anchor, Canvas, Colour, INK, SeriesLook, Sheet, Type, escape, rectangle};
use super::frame::{Frame, Texts};
use super::scale::Scale;

/// A schedule small enough to read: up to a few hundred jobs.
#[derive(Debug, Clone, Default)]
pub struct Gantt {
    /// Short name, as in file names and links.
    pub id: String,
    /// Title in a few words.
    pub title: String,
    /// Label of the time axis, with its unit.
    pub time: String,
    /// Number of processors, numbered from 0.
    pub processors: u32,
    /// Sites, if there are several: the first processor of each, and its name.
    pub sites: Vec<(u32, String)>,
    /// The jobs that ran.
    pub bars: Vec<Bar>,
    /// Time range of the picture, so that several can be compared; from the first start to the last end if `None`.
    pub span: Option<(f64, f64)>,
}

/// One execution of a job.
#[derive(Debug, Clone, Default)]
pub struct Bar {
    /// Name of the job.
    pub job: String,
    /// Start time.
    pub start: f64,
    /// Finish time.
    pub end: f64,
    /// Processors that it occupied: first processor and size of each block.
    pub processors: Vec<(u32, u32)>,
    /// Facts about it, line by line.
    pub facts: Vec<String>,
    /// Colour; `None` is its position in the list. A job that keeps one slot has one colour in every schedule.
    pub slot: Option<usize>,
}

/// Height in pixels below which a site has no room for its name: the line above would run through it.
const NAME_HEIGHT: f64 = 15.0;

impl Gantt {
    /// Returns the time from the first start to the last end, or from zero if the first start is near it.
    pub fn stay(bars: &[Bar]) -> (f64, f64) {
        let low = bars.iter().map(|b| b.start).fold(f64::INFINITY, f64::min);
        let high = bars.iter().map(|b| b.end).fold(f64::NEG_INFINITY, f64::max);
        let (low, high) = if high > low { (low, high) } else { (0.0, 1.0) };
        (if low > 0.0 && low < 0.25 * high { 0.0 } else { low }, high)
    }

    pub(super) fn about(&self) -> String {
        format!("{} jobs on {} processors over time", self.bars.len(), self.processors)
    }
}

pub(super) fn svg(gantt: &Gantt, sheet: Sheet) -> String {
    let texts = Texts { title: &gantt.title, note: "", x: &gantt.time, y: "Processor", legend: &[] };
    let (low, high) = gantt.span.unwrap_or_else(|| Gantt::stay(&gantt.bars));
    let n = f64::from(gantt.processors.max(1));
    let mut y = Scale::linear(0.0, n, 0.0, n, &Axis::default());
    y.ticks.retain(|(at, _)| (at - at.round()).abs() < 1e-9);
    let x = Scale::linear(low, high, low, high, &Axis::default());
    let mut canvas = Canvas::new(sheet);
    let frame = Frame::around(&mut canvas, &texts, x, y, 26.0);
    frame.grid(&mut canvas);
    let finite = gantt.bars.iter().filter(|bar| bar.start.is_finite() && bar.end.is_finite());
    for (k, bar) in finite.enumerate() {
        // Neighbours in the list differ in colour.
        let colour = SeriesLook(bar.slot.unwrap_or(k) % 6).colour();
        let lines = [&[format!("Job {}", bar.job)], &bar.facts[..]].concat();
        canvas.group(&format!("data-job=\"{}\"", escape(&bar.job)), &lines, |canvas| {
            bar.processors.iter().for_each(|&(first, count)| block(canvas, &frame, bar, colour, first, count));
        });
    }
    let ends = gantt.sites.iter().skip(1).map(|(first, _)| *first).chain([gantt.processors]);
    for ((first, name), end) in gantt.sites.iter().zip(ends) {
        let (left, at) = frame.at(frame.x.low, f64::from(*first));
        canvas.line(&[(left, at), (frame.right, at)], AXIS, 0.8, false);
        if at - frame.at(frame.x.low, f64::from(end)).1 >= NAME_HEIGHT {
            canvas.text(name, frame.right - 4.0, at - 4.0, Type::TICK, Anchor::End);
        }
    }
    canvas.finish(&gantt.title, &gantt.about(), "")
}

/// Draws one block of processors held by a job, with the job's name if it fits.
fn block(canvas: &mut Canvas, frame: &Frame, bar: &Bar, colour: Colour, first: u32, count: u32) {
    let (left, bottom) = frame.at(bar.start, f64::from(first));
    let (right, top) = frame.at(bar.end, f64::from(first) + f64::from(count));
    // A thin white line separates neighbours, but a short job must not vanish behind it.
    let (gap_x, gap_y) = (if right - left > 3.0 { 0.5 } else { 0.0 }, if bottom - top > 3.0 { 0.5 } else { 0.0 });
    let (left, right) = (left + gap_x, (right - gap_x).max(left + gap_x + 0.4));
    let (top, bottom) = (top + gap_y, bottom - gap_y);
    canvas.fill(&rectangle(left, top, right, bottom), colour, 0.55);
    if right - left > 6.0 {
        canvas.fill(&rectangle(left, top, left + 1.2, bottom), colour, 1.0);
    }
    let look = Type { size: (bottom - top - 2.0).clamp(0.0, 11.0), bold: false, colour: INK };
    if look.size >= 7.0 && look.width(&bar.job) <= right - left - 5.0 {
        let baseline = f64::midpoint(top, bottom) + 0.36 * look.size;
        canvas.text(&bar.job, f64::midpoint(left, right) + 0.6, baseline, look, Anchor::Middle);
    }
}
