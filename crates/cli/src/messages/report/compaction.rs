//! Messages about compaction and the context window.

use windlass::core::context::{CompactionPreview, PreviewedAction, PruneStagePreview};

use crate::inspect::compaction_report::{CompactionReport, StageReport};
use crate::messages::recovery_step_name;
use crate::terminal::number_format::{count_noun, group_digits};
use crate::terminal::{Color, OutputStyle};

/// The sentence about how full the window is.
pub(crate) fn window_usage_sentence(percent: u64, tokens: u64, usable: u64) -> String {
    let (tokens, usable) = (group_digits(tokens), group_digits(usable));
    format!("The window is {percent} % full: about {tokens} of {usable} usable tokens.")
}

/// The preview of a compaction, for people.
pub(crate) fn report_lines(preview: &CompactionReport, style: OutputStyle) -> Vec<String> {
    let full = window_usage_sentence(preview.percent, preview.tokens, preview.usable_tokens);
    let by_itself = preview.compacts_at_percent;
    let mut lines =
        vec![style.paint(Color::Bold, &full), format!("  auto-compaction starts at {by_itself} %")];
    lines.extend(preview.stages.iter().map(stage_line));
    lines.push(action_sentence(preview));
    if preview.action == "cut" {
        let kept = count_noun(preview.kept_parts as u64, "message part");
        lines.push(format!("  kept unchanged: the last {kept}"));
        let quoted = preview.kept_verbatim.iter();
        lines.extend(quoted.map(|text| format!("  kept verbatim: {text}")));
    }
    lines
}

fn stage_line(stage: &StageReport) -> String {
    let StageReport { stage, blocks, percent_after } = stage;
    format!(
        "  {stage}: {} to prune, then {percent_after} % full",
        count_noun(*blocks as u64, "block")
    )
}

fn action_sentence(preview: &CompactionReport) -> String {
    match preview.action {
        "stages" => "a compaction would prune old results; no summary is needed".to_owned(),
        "cut" => format!(
            "a compaction would run {}; {} would be replaced by a summary",
            preview.recovery_step.as_deref().unwrap_or_default(),
            count_noun(preview.dropped_parts as u64, "message part"),
        ),
        "human" => {
            "a compaction would ask you how to continue: the last ones freed too little".to_owned()
        }
        "stuck" => {
            "there is nothing to compact: all messages are recent, or the compaction limit of this run (recoveries) is reached"
                .to_owned()
        }
        _ => "there is nothing to compact yet".to_owned(),
    }
}

/// The sentence that nothing was compacted, and why.
pub(crate) fn nothing_done_sentence(preview: &CompactionReport) -> String {
    let (reason, percent) = (action_sentence(preview), preview.percent);
    format!("Nothing was done: {reason}. The window is {percent} % full.")
}

/// Sentences about what each stage and the recovery steps could have done.
pub(crate) fn stuck_sentences(plan: &CompactionPreview) -> Vec<String> {
    let gain = plan.thresholds.gain;
    let mut sentences = vec![window_usage_sentence(plan.percent, plan.tokens, plan.usable_tokens)];
    let stage = |stage: &PruneStagePreview| {
        let (name, blocks) = (stage.stage.name(), count_noun(stage.blocks as u64, "block"));
        let after = stage.percent_after;
        format!(
            "Pruning stage {name} could shorten {blocks}, which leaves {after} % (target: {gain} %)."
        )
    };
    sentences.extend(plan.stages.iter().map(stage));
    sentences.push(match (plan.next_action, &plan.cut) {
        (PreviewedAction::Cut, Some(cut)) => {
            format!("{} was not used yet.", recovery_step_name(cut.step))
        }
        (PreviewedAction::AskHuman, _) => "The last recovery step is to ask a person.".to_owned(),
        (_, Some(cut)) => format!("{} could still be used.", recovery_step_name(cut.step)),
        (_, None) => "No recovery step is left, or nothing more can be compacted.".to_owned(),
    });
    sentences
}
