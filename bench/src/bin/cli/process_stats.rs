//! Time and memory of processes, as reported by the kernel.

use std::time::Instant;

/// Milliseconds per clock tick in `/proc`: fixed on Linux.
const TICK_MS: f64 = 10.0;

#[expect(clippy::disallowed_methods, reason = "a benchmark measures time")]
pub(crate) fn current_time() -> Instant {
    Instant::now()
}

/// Yields the CPU for a moment.
#[expect(clippy::disallowed_methods, reason = "a benchmark looks again and again")]
pub(crate) fn short_pause() {
    std::thread::sleep(std::time::Duration::from_micros(500));
}

/// CPU time of all children that were waited for. The kernel adds it up exactly and reports it in
/// ticks: only sums over many processes are meaningful.
pub(crate) fn children_cpu_ms() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let after_name = stat.rsplit(')').next().unwrap_or_default();
    let fields: Vec<f64> =
        after_name.split_whitespace().skip(1).filter_map(|field| field.parse().ok()).collect();
    // The fields after the state: cutime and cstime are the 13th and 14th of them.
    let of = |place: usize| fields.get(place).copied().unwrap_or_default();
    (of(12) + of(13)) * TICK_MS
}

/// Peak memory of a process in kilobytes; `None` once it has ended.
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

pub(crate) fn minimum(values: &[f64]) -> f64 {
    values.iter().copied().fold(f64::INFINITY, f64::min)
}
