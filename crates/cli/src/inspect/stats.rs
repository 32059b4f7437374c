//! The histogram of the statistics over runs.

use windlass::stats::RunStats;

use crate::messages::report;
use crate::terminal::OutputStyle;

/// Maximum number of lines of the histogram.
const MAX_BARS: u32 = 20;

/// Renders the statistics as text, with the histogram.
pub(crate) fn to_lines(stats: &RunStats, style: OutputStyle, days: Option<u32>) -> Vec<String> {
    let mut lines = report::stats::share_lines(stats, style, days);
    if !stats.iterations_to_end_turn.is_empty() {
        lines.push(String::new());
        lines.push(report::stats::histogram_title(stats, style));
        lines.extend(report::stats::bar_lines(&histogram_bars(stats), style));
    }
    lines.extend(report::stats::agent_lines(stats, style));
    lines.extend(report::stats::tool_lines(stats, style));
    lines
}

/// The bars from 1 to the longest run, including gaps: the right tail is what matters.
fn histogram_bars(stats: &RunStats) -> Vec<HistogramBar> {
    let longest = stats.iterations_to_end_turn.keys().last().copied().unwrap_or(1).max(1);
    let step = longest.div_ceil(MAX_BARS).max(1);
    let bar = |from: u32| {
        let upto = from.saturating_add(step - 1);
        let runs = stats.iterations_to_end_turn.range(from..=upto).map(|(_, runs)| runs).sum();
        HistogramBar { from, upto, runs }
    };
    let mut bars: Vec<HistogramBar> = (0..MAX_BARS).map(|at| bar(at * step + 1)).collect();
    bars.retain(|bar| bar.from <= longest);
    bars
}

/// One bar of the histogram.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct HistogramBar {
    pub(crate) from: u32,
    pub(crate) upto: u32,
    pub(crate) runs: usize,
}

#[cfg(test)]
#[path = "stats_tests.rs"]
mod stats_tests;
