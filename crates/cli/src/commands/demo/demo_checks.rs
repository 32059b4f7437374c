//! Checks of the demo against the log and the files, not against its output.

use windlass::StopCause;
use windlass::core::log::entry::Entry;
use windlass::core::log::ids::LaneId;
use windlass::core::log::input::Input;
use windlass::core::log::record::{Record, Truncation};
use windlass::core::permission::PermissionDecision as Judgement;
use windlass::core::run::conversation::Conversation;
use windlass::core::run::question::QuestionKind;
use windlass::ports::Store;
use windlass::sqlite::SqliteStore;

use super::demo_project::{CONVERSATION, DemoProject};

/// Checks the demo; returns each step and whether it happened.
pub(super) async fn check_demo(project: &DemoProject) -> anyhow::Result<Vec<(&'static str, bool)>> {
    let store = SqliteStore::open(project.store_path())?;
    let stored = store.read_log(LaneId::from(CONVERSATION), 0, usize::MAX).await?;
    let parse = |line: &windlass::ports::EncodedEntry| Entry::parse(line.seq, &line.line);
    let log: Vec<Entry> = stored.iter().map(parse).collect::<Result<_, _>>()?;
    let now = Conversation::replay(&log)?;
    let records = || log.iter().flat_map(|entry| &entry.records);
    let any = |holds: &dyn Fn(&Record) -> bool| records().any(holds);
    let shop = std::fs::read_to_string(project.work_folder().join("shop.sh"))?;
    Ok(vec![
        ("three files were read in parallel", max_calls_per_reply(&log) >= 3),
        (
            "the test failed before the change and passed after it",
            test_results(&log) == (true, true),
        ),
        ("the file was edited", shop.contains("price * 90 / 100")),
        (
            "writing a git hook was denied although Write is allowed",
            any(&|r| {
                matches!(r, Record::PermissionDecided { verdict: Judgement::Deny { .. }, .. })
            }) && !project.work_folder().join(".git").exists(),
        ),
        (
            "a truncated reply was continued",
            any(&|r| matches!(r, Record::ModelReplied { truncation: Truncation::Truncated, .. })),
        ),
        (
            "old results were pruned when the context filled up",
            any(&|r| matches!(r, Record::Pruned { .. } | Record::Compacted { .. })),
        ),
        ("the process was killed in the middle of a side effect", any(&is_call_lost)),
        (
            "a person was asked whether it took effect",
            any(&|r| {
                matches!(r, Record::QuestionAsked { question }
                if matches!(question.kind, QuestionKind::Uncertain { .. }))
            }),
        ),
        ("it was deployed exactly once", project.read_deployments()?.lines().count() == 1),
        (
            "the run ended with an answer",
            now.last_run_end.is_some_and(|end| end.cause == StopCause::EndTurn),
        ),
    ])
}

fn is_call_lost(record: &Record) -> bool {
    matches!(record, Record::CallLost { .. })
}

/// The largest number of calls in one reply.
fn max_calls_per_reply(log: &[Entry]) -> usize {
    let calls = |entry: &Entry| match &entry.input {
        Input::ModelReplied { reply, .. } => reply.tool_uses().count(),
        _ => 0,
    };
    log.iter().map(calls).max().unwrap_or(0)
}

/// Returns whether a test failed, and whether one passed.
fn test_results(log: &[Entry]) -> (bool, bool) {
    let says = |words: &str| {
        log.iter().any(|entry| match &entry.input {
            Input::ToolReturned { outcome, .. } => {
                serde_json::to_string(outcome).is_ok_and(|text| text.contains(words))
            }
            _ => false,
        })
    };
    (says("FAIL: 200"), says("ok: 200"))
}
