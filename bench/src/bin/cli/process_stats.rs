//! CPU time of child processes, as the kernel reports it.

/// Milliseconds per clock tick in `/proc`: fixed on Linux.
const TICK_MS: f64 = 10.0;

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
