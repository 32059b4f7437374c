//! Time and memory of processes, as the kernel tells them.

use std::time::Instant;

/// Clock ticks of a second in `/proc`: fixed on Linux.
const TICK_MS: f64 = 10.0;

#[expect(clippy::disallowed_methods, reason = "a benchmark measures time")]
pub(crate) fn now() -> Instant {
    Instant::now()
}

/// Lets others run for a moment.
#[expect(clippy::disallowed_methods, reason = "a benchmark looks again and again")]
pub(crate) fn breathe() {
    std::thread::sleep(std::time::Duration::from_micros(500));
}

/// CPU time of all children that were waited for. The kernel adds it up exactly and tells it in
/// ticks: only sums over many processes mean something.
pub(crate) fn cpu_of_children_ms() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let after_name = stat.rsplit(')').next().unwrap_or_default();
    let fields: Vec<f64> =
        after_name.split_whitespace().skip(1).filter_map(|field| field.parse().ok()).collect();
    // The fields after the state: cutime and cstime are the 13th and 14th of them.
    let of = |place: usize| fields.get(place).copied().unwrap_or_default();
    (of(12) + of(13)) * TICK_MS
}

/// The most memory a process ever held, in kilobytes; `None` once it is gone.
pub(crate) fn peak_kb(status: &str) -> Option<u64> {
    let status = std::fs::read_to_string(status).ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    line.split_whitespace().nth(1)?.parse().ok()
}

pub(crate) fn load_average() -> String {
    let text = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split(' ').next().unwrap_or("unknown").to_owned()
}

pub(crate) fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or_default()
}

pub(crate) fn least(values: &[f64]) -> f64 {
    values.iter().copied().fold(f64::INFINITY, f64::min)
}
