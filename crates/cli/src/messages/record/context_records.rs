//! Messages about the context: pruning, compaction, recovery steps, added instructions.

use windlass::core::context::{PruneStage, RecoveryStep, UsableWindow, WindowThresholds};
use windlass::core::run::conversation::Conversation;

use super::{MessageContext, RecordTexts, SectionTopic};
use crate::messages::recovery_step_name;
use crate::terminal::number_format::{count_noun, group_digits};

/// Old messages were replaced by a summary; `(keep_from, step, kept)` are those of the record.
pub(super) fn compacted(
    say: RecordTexts,
    context: &MessageContext<'_>,
    (keep_from, step, kept): (u64, Option<RecoveryStep>, usize),
) -> RecordTexts {
    say.live(|| "  old messages were compacted")
        .timeline(|| {
            let step = step.map_or("compaction", recovery_step_name);
            format!("{step}: {} compacted into a summary", count_noun(keep_from, "message part"))
        })
        .explain(SectionTopic::Context, || {
            let freed = measure_freed(context)?;
            let step = step.map_or("A compaction", recovery_step_name);
            let enough = match freed.percent_after > freed.target_percent {
                true => "; too little was freed",
                false => "",
            };
            let kept = match kept {
                0 => String::new(),
                count => format!(" {} kept verbatim.", count_noun(count as u64, "message")),
            };
            Some(format!("{step} was used: {}{enough}.{kept}", freed.phrase()))
        })
}

/// Old blocks were shortened.
pub(super) fn pruned(
    say: RecordTexts,
    context: &MessageContext<'_>,
    stage: PruneStage,
    blocks: usize,
) -> RecordTexts {
    let blocks = || count_noun(blocks as u64, "old block");
    say.live(|| "  old tool results were pruned from the context")
        .timeline(|| format!("{}: {} pruned", stage.name(), blocks()))
        .explain(SectionTopic::Context, || {
            let freed = measure_freed(context)?.phrase();
            Some(format!("Pruning stage {} shortened {}: {freed}.", stage.name(), blocks()))
        })
}

/// Number of tools that a message names.
const MAX_NAMED_TOOLS: usize = 8;

/// Tokens before and after a compaction, and whether that is enough.
struct FreedTokens {
    before: u64,
    after: u64,
    percent_after: u64,
    target_percent: u64,
}

impl FreedTokens {
    fn phrase(&self) -> String {
        format!(
            "about {} tokens freed ({} before, {} after, {} % full)",
            group_digits(self.before.saturating_sub(self.after)),
            group_digits(self.before),
            group_digits(self.after),
            self.percent_after,
        )
    }
}

fn measure_freed(context: &MessageContext<'_>) -> Option<FreedTokens> {
    let (before, now) = (context.before()?, context.after()?);
    let tokens = |c: &Conversation| c.meter.estimate(c.request_bytes());
    let settings = now.active_settings();
    let after = tokens(now);
    let share = |usable: UsableWindow| usable.percent(after);
    let usable = settings
        .as_ref()
        .map(|settings| UsableWindow::new(settings.model.window_tokens, settings.model.max_tokens));
    let thresholds = settings
        .as_ref()
        .map_or_else(WindowThresholds::default, |settings| settings.window.thresholds);
    Some(FreedTokens {
        before: tokens(before),
        after,
        percent_after: usable.map_or(0, share),
        target_percent: thresholds.gain,
    })
}

/// A compaction was requested.
pub(super) fn compaction_requested(say: RecordTexts) -> RecordTexts {
    say.timeline(|| "a compaction was requested")
        .explain(SectionTopic::Context, || "A compaction was requested.")
}

/// A step of the recovery ladder was used.
pub(super) fn recovery_step_used(say: RecordTexts, step: RecoveryStep) -> RecordTexts {
    let step = recovery_step_name(step);
    say.timeline(|| format!("{step}: the context is running out"))
        .explain(SectionTopic::Context, || {
            format!("{step}: earlier recovery steps freed too little.")
        })
}

/// Instruction files reached the conversation.
pub(super) fn instructions_added(say: RecordTexts) -> RecordTexts {
    say.live(|| "  instruction files were added to the context")
        .timeline(|| "instruction files were added to the context")
}

/// The tools of servers changed: new, changed and removed ones.
pub(super) fn server_tools_changed(
    say: RecordTexts,
    names: [&Vec<std::sync::Arc<str>>; 3],
) -> RecordTexts {
    let changes = || {
        let parts = names.into_iter().zip(["new", "changed", "gone"]);
        let parts = parts.filter_map(|(names, how)| list_tools(names, how));
        parts.collect::<Vec<_>>().join("; ")
    };
    say.live(|| format!("  tools of MCP servers: {}", changes()))
        .timeline(|| format!("tools of MCP servers: {}", changes()))
        .explain(SectionTopic::Context, || {
            format!("The tools of MCP servers changed during the run: {}.", changes())
        })
}

fn list_tools(names: &[std::sync::Arc<str>], how: &str) -> Option<String> {
    let shown = names.iter().take(MAX_NAMED_TOOLS).map(|name| &**name).collect::<Vec<_>>();
    let more = match names.len().saturating_sub(MAX_NAMED_TOOLS) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    (!shown.is_empty()).then(|| format!("{how}: {}{more}", shown.join(", ")))
}
