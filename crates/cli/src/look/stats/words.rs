//! The words and bars of the statistics.

use super::{AgentStats, Bar, Stats, ToolLine};
use crate::look::numbers::{counted, percent};
use crate::look::paper::{Ink, Paper, clean};

/// The share of unexpected stops that is still fine.
const TARGET: &str = "0.3 %";

/// The shares, one a line.
pub(super) fn shares(stats: &Stats, paper: Paper, days: Option<u32>) -> Vec<String> {
    let when = days.map_or_else(String::new, |days| {
        format!(" in the last {}", counted(u64::from(days), "day"))
    });
    let share = |name: &str, part: usize| {
        format!("  {name:<22} {part:>6}  {:>8}", percent(part, stats.runs))
    };
    let verdict = match stats.unexpected_within_target {
        true => paper.ink(Ink::Good, &format!("ok: under {TARGET}")),
        false => paper.ink(
            Ink::Bad,
            &format!(
                "over the target of {TARGET}; look with `windlass runs` and `windlass explain`"
            ),
        ),
    };
    let title = format!("{} ended{when}", counted(stats.runs as u64, "run"));
    let mut lines = vec![paper.ink(Ink::Strong, &title)];
    lines.push(share("stopped at the cap", stats.stopped_at_cap));
    lines.push(format!("{}  {verdict}", share("unexpected stops", stats.unexpected)));
    lines.push(String::new());
    lines.push(paper.ink(Ink::Strong, "why they ended"));
    lines.extend(stats.reasons.iter().map(|(reason, runs)| share(reason, *runs)));
    lines
}

/// What the histogram shows.
pub(super) fn histogram_title(stats: &Stats, paper: Paper) -> String {
    let answers: usize = stats.iterations_to_end_turn.values().sum();
    let longest = stats.iterations_to_end_turn.keys().last().copied().unwrap_or_default();
    let title = format!(
        "iterations to end_turn ({}; median {}, 95 % within {}, longest {longest})",
        counted(answers as u64, "run"),
        stats.quantile(50),
        stats.quantile(95),
    );
    paper.ink(Ink::Strong, &title)
}

/// The bars, drawn.
pub(super) fn bars(bars: &[Bar], paper: Paper) -> Vec<String> {
    let most = bars.iter().map(|bar| bar.runs).max().unwrap_or(1).max(1);
    let room = paper.width().saturating_sub(24).min(60);
    let draw = |bar: &Bar| {
        let name = match bar.from == bar.upto {
            true => bar.from.to_string(),
            false => format!("{}–{}", bar.from, bar.upto),
        };
        // One run is always seen, however many the others are.
        let length = bar.runs.saturating_mul(room).div_ceil(most);
        let ink = paper.ink(Ink::Good, &"█".repeat(length));
        let count = if bar.runs == 0 { String::new() } else { format!(" {}", bar.runs) };
        format!("  {name:>9} │{ink}{count}")
    };
    bars.iter().map(draw).collect()
}

/// Runs and escalations by agent and profile.
pub(super) fn agents(stats: &Stats, paper: Paper) -> Vec<String> {
    if stats.agents.is_empty() {
        return Vec::new();
    }
    let line = |of: &AgentStats| {
        let name = match &*of.profile {
            "" => clean(&of.agent),
            profile => format!("{} ({})", clean(&of.agent), clean(profile)),
        };
        let escalated: u64 = of.escalations.values().sum();
        let kinds: Vec<String> =
            of.escalations.iter().map(|(name, count)| format!("{name} {count}")).collect();
        let kinds = if kinds.is_empty() { "none".to_owned() } else { kinds.join(", ") };
        // More than one for every two runs is worth a look.
        let often = escalated > 0 && escalated.saturating_mul(2) > of.runs as u64;
        let kinds = if often { paper.ink(Ink::Notable, &kinds) } else { kinds };
        format!("  {name:<28} {:>6}  escalations: {kinds}", of.runs)
    };
    let title = paper.ink(Ink::Strong, "runs by agent (profile)");
    [String::new(), title].into_iter().chain(stats.agents.iter().map(line)).collect()
}

/// Calls, attempts and failures by tool.
pub(super) fn tools(stats: &Stats, paper: Paper) -> Vec<String> {
    if stats.tools.is_empty() {
        return Vec::new();
    }
    let line = |of: &ToolLine| {
        let name = clean(&of.tool);
        let ToolLine { calls, attempts, retried, failed, .. } = of;
        let text = format!("  {name:<28} {calls:>6} {attempts:>9} {retried:>8} {failed:>7}");
        if *retried > 0 { paper.ink(Ink::Notable, &text) } else { text }
    };
    let heading = format!(
        "  {:<28} {:>6} {:>9} {:>8} {:>7}",
        "tool", "calls", "attempts", "retried", "failed"
    );
    let heading = [String::new(), paper.ink(Ink::Strong, "tools"), paper.ink(Ink::Faint, &heading)];
    heading.into_iter().chain(stats.tools.iter().map(line)).collect()
}
