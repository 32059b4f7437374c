//! Whether everything the demo shows really happened: read from the log and the files, not from what
//! was printed.

use windlass::StopCause;
use windlass::core::conversation::Conversation;
use windlass::core::ids::LaneId;
use windlass::core::input::Input;
use windlass::core::log::Entry;
use windlass::core::permission::Verdict as Judgement;
use windlass::core::question::About;
use windlass::core::record::{Record, Truncation};
use windlass::ports::Store;
use windlass::sqlite::SqliteStore;

use super::project::{CONVERSATION, Project};

/// Each step, and whether it happened.
pub(super) async fn verdict(project: &Project) -> anyhow::Result<Vec<(&'static str, bool)>> {
    let store = SqliteStore::open(project.store())?;
    let stored = store.read_log(LaneId::from(CONVERSATION), 0, usize::MAX).await?;
    let parse = |line: &windlass::ports::EncodedEntry| Entry::parse(line.seq, &line.line);
    let log: Vec<Entry> = stored.iter().map(parse).collect::<Result<_, _>>()?;
    let now = Conversation::replay(&log)?;
    let records = || log.iter().flat_map(|entry| &entry.records);
    let any = |holds: &dyn Fn(&Record) -> bool| records().any(holds);
    let shop = std::fs::read_to_string(project.folder().join("shop.sh"))?;
    Ok(vec![
        ("three files were read in parallel", most_calls(&log) >= 3),
        ("the test failed before the change and passed after it", tests(&log) == (true, true)),
        ("the file was edited", shop.contains("price * 90 / 100")),
        (
            "writing a hook was denied although writing is allowed",
            any(&|r| matches!(r, Record::Judged { verdict: Judgement::Deny { .. }, .. }))
                && !project.folder().join(".git").exists(),
        ),
        (
            "a reply was cut and the work went on",
            any(&|r| matches!(r, Record::Replied { truncation: Truncation::Cut, .. })),
        ),
        (
            "old results were cut when the context filled up",
            any(&|r| matches!(r, Record::Pruned { .. } | Record::Compacted { .. })),
        ),
        ("the process was killed in the middle of a side effect", any(&is_lost)),
        (
            "a person was asked what became of it",
            any(&|r| {
                matches!(r, Record::Questioned { question }
                if matches!(question.about, About::Uncertain { .. }))
            }),
        ),
        ("it was deployed exactly once", project.deployments()?.lines().count() == 1),
        (
            "the run ended with an answer",
            now.last_end.is_some_and(|end| end.cause == StopCause::EndTurn),
        ),
    ])
}

fn is_lost(record: &Record) -> bool {
    matches!(record, Record::CallLost { .. })
}

/// Calls in the reply with the most of them.
fn most_calls(log: &[Entry]) -> usize {
    let calls = |entry: &Entry| match &entry.input {
        Input::Replied { reply, .. } => reply.tool_uses().count(),
        _ => 0,
    };
    log.iter().map(calls).max().unwrap_or(0)
}

/// Whether a test failed, and whether one passed.
fn tests(log: &[Entry]) -> (bool, bool) {
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
