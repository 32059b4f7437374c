//! Texts and bars of the statistics.

use windlass::stats::{AgentStats, RunStats, ToolUsage};

use crate::inspect::stats::HistogramBar;
use crate::terminal::number_format::{count_noun, format_percent};
use crate::terminal::{Color, OutputStyle, sanitize_line};

/// The target for the share of unexpected stops.
const UNEXPECTED_TARGET: &str = "0.3 %";

/// The shares, one per line.
pub(crate) fn share_lines(stats: &RunStats, style: OutputStyle, days: Option<u32>) -> Vec<String> {
    let when = days.map_or_else(String::new, |days| {
        format!(" in the last {}", count_noun(u64::from(days), "day"))
    });
    let share = |name: &str, part: usize| {
        format!("  {name:<22} {part:>6}  {:>8}", format_percent(part, stats.runs))
    };
    let verdict = match stats.unexpected_within_target {
        true => style.paint(Color::Green, &format!("ok: under {UNEXPECTED_TARGET}")),
        false => style.paint(
            Color::Red,
            &format!(
                "above the target of {UNEXPECTED_TARGET}; see `windlass runs` and `windlass explain`"
            ),
        ),
    };
    let title = format!("{} ended{when}", count_noun(stats.runs as u64, "run"));
    let mut lines = vec![style.paint(Color::Bold, &title)];
    lines.push(share("stopped at a limit", stats.stopped_at_cap));
    lines.push(format!("{}  {verdict}", share("unexpected stops", stats.unexpected)));
    lines.push(String::new());
    lines.push(style.paint(Color::Bold, "stop causes"));
    lines.extend(stats.reasons.iter().map(|(reason, runs)| share(reason, *runs)));
    lines
}

/// The title of the histogram.
pub(crate) fn histogram_title(stats: &RunStats, style: OutputStyle) -> String {
    let answers: usize = stats.iterations_to_end_turn.values().sum();
    let longest = stats.iterations_to_end_turn.keys().last().copied().unwrap_or_default();
    let title = format!(
        "iterations to end_turn ({}; median {}, 95 % within {}, longest {longest})",
        count_noun(answers as u64, "run"),
        stats.iterations_quantile(50),
        stats.iterations_quantile(95),
    );
    style.paint(Color::Bold, &title)
}

/// The lines of the bars.
pub(crate) fn bar_lines(bars: &[HistogramBar], style: OutputStyle) -> Vec<String> {
    let max_runs = bars.iter().map(|bar| bar.runs).max().unwrap_or(1).max(1);
    let max_width = style.width().saturating_sub(24).min(60);
    let draw = |bar: &HistogramBar| {
        let name = match bar.from == bar.upto {
            true => bar.from.to_string(),
            false => format!("{}–{}", bar.from, bar.upto),
        };
        // A bar of one run is always visible.
        let length = bar.runs.saturating_mul(max_width).div_ceil(max_runs);
        let ink = style.paint(Color::Green, &"█".repeat(length));
        let count = if bar.runs == 0 { String::new() } else { format!(" {}", bar.runs) };
        format!("  {name:>9} │{ink}{count}")
    };
    bars.iter().map(draw).collect()
}

/// Runs and escalations by agent and profile.
pub(crate) fn agent_lines(stats: &RunStats, style: OutputStyle) -> Vec<String> {
    if stats.agents.is_empty() {
        return Vec::new();
    }
    let line = |of: &AgentStats| {
        let name = match &*of.profile {
            "" => sanitize_line(&of.agent),
            profile => format!("{} ({})", sanitize_line(&of.agent), sanitize_line(profile)),
        };
        let escalated: u64 = of.escalations.values().sum();
        let kinds: Vec<String> =
            of.escalations.iter().map(|(name, count)| format!("{name} {count}")).collect();
        let kinds = if kinds.is_empty() { "none".to_owned() } else { kinds.join(", ") };
        // More than one for every two runs is highlighted.
        let often = escalated > 0 && escalated.saturating_mul(2) > of.runs as u64;
        let kinds = if often { style.paint(Color::Yellow, &kinds) } else { kinds };
        format!("  {name:<28} {:>6}  escalations: {kinds}", of.runs)
    };
    let title = style.paint(Color::Bold, "runs by agent (profile)");
    [String::new(), title].into_iter().chain(stats.agents.iter().map(line)).collect()
}

/// Calls, attempts and failures by tool.
pub(crate) fn tool_lines(stats: &RunStats, style: OutputStyle) -> Vec<String> {
    if stats.tools.is_empty() {
        return Vec::new();
    }
    let line = |of: &ToolUsage| {
        let name = sanitize_line(&of.tool);
        let ToolUsage { calls, attempts, retried, failed, .. } = of;
        let text = format!("  {name:<28} {calls:>6} {attempts:>9} {retried:>8} {failed:>7}");
        if *retried > 0 { style.paint(Color::Yellow, &text) } else { text }
    };
    let heading = format!(
        "  {:<28} {:>6} {:>9} {:>8} {:>7}",
        "tool", "calls", "attempts", "retried", "failed"
    );
    let heading =
        [String::new(), style.paint(Color::Bold, "tools"), style.paint(Color::Dim, &heading)];
    heading.into_iter().chain(stats.tools.iter().map(line)).collect()
}
