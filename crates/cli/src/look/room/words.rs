//! The words about room in the window.

use windlass::core::window::{Acts, Plan, StagePlan};

use super::{Preview, StagePreview};
use crate::look::numbers::{counted, grouped};
use crate::look::paper::{Ink, Paper};
use crate::look::words::rung;

/// How full it is.
pub(super) fn fullness(percent: u64, tokens: u64, usable: u64) -> String {
    let (tokens, usable) = (grouped(tokens), grouped(usable));
    format!("The window is {percent} % full: about {tokens} of {usable} usable tokens.")
}

/// A preview for people.
pub(super) fn lines(preview: &Preview, paper: Paper) -> Vec<String> {
    let full = fullness(preview.percent, preview.tokens, preview.usable_tokens);
    let by_itself = preview.compacts_at_percent;
    let mut lines =
        vec![paper.ink(Ink::Strong, &full), format!("  auto-compaction starts at {by_itself} %")];
    lines.extend(preview.stages.iter().map(stage));
    lines.push(acts(preview));
    if preview.acts == "cut" {
        let kept = counted(preview.kept as u64, "message part");
        lines.push(format!("  stays as it is: the last {kept}"));
        let quoted = preview.word_for_word.iter();
        lines.extend(quoted.map(|text| format!("  stays word for word: {text}")));
    }
    lines
}

fn stage(stage: &StagePreview) -> String {
    let StagePreview { stage, blocks, percent_after } = stage;
    format!("  {stage}: {} to cut, then {percent_after} % full", counted(*blocks as u64, "block"))
}

fn acts(preview: &Preview) -> String {
    match preview.acts {
        "stages" => "a compaction would cut old results; no summary is needed".to_owned(),
        "cut" => format!(
            "a compaction would run {}; {} would be replaced by a summary",
            preview.rung.as_deref().unwrap_or_default(),
            counted(preview.left_out as u64, "message part"),
        ),
        "human" => {
            "a compaction would ask you how to go on: the last ones freed too little".to_owned()
        }
        "stuck" => {
            "there is nothing to compact: no message is old enough to be left out, or every \
                    recovery was used"
                .to_owned()
        }
        _ => "there is nothing to compact yet".to_owned(),
    }
}

/// Nothing was compacted, and why.
pub(super) fn nothing_done(preview: &Preview) -> String {
    let (why, percent) = (acts(preview), preview.percent);
    format!("Nothing was done: {why}. The window is {percent} % full.")
}

/// What each stage and the ladder could have done.
pub(super) fn stuck(plan: &Plan) -> Vec<String> {
    let gain = plan.thresholds.gain;
    let mut sentences = vec![fullness(plan.percent, plan.tokens, plan.usable_tokens)];
    let stage = |stage: &StagePlan| {
        let (name, blocks) = (stage.stage.name(), counted(stage.blocks as u64, "block"));
        let after = stage.percent_after;
        format!("Stage {name} could cut {blocks}, which leaves {after} % (wanted: {gain} %).")
    };
    sentences.extend(plan.stages.iter().map(stage));
    sentences.push(match (plan.acts, &plan.cut) {
        (Acts::Cut, Some(cut)) => format!("{} had not acted yet.", rung(cut.rung)),
        (Acts::Human, _) => "The last rung is to ask a human.".to_owned(),
        (_, Some(cut)) => format!("{} could still act.", rung(cut.rung)),
        (_, None) => {
            "The ladder has no rung left, or there is nothing that may be left out.".to_owned()
        }
    });
    sentences
}
