//! Requests to bring back the files that the tools of the session have changed.

use std::path::Path;

use serde_json::{Value, json};
use windlass::Rewind;
use windlass::tools::FileRewind;

use super::{ControlAnswer, ControlRequest};
use crate::sdk_channel::channel_loop::Channel;

/// The variable by which a program asks for a file history.
const ENABLED: &str = "CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING";

/// Brings back the files to what they were before a prompt, or says what that would change.
pub(super) async fn rewind_files(channel: &Channel, request: &ControlRequest) -> ControlAnswer {
    if !std::env::var(ENABLED).is_ok_and(|value| value == "true" || value == "1") {
        return Err("file checkpointing is not enabled; enable it in the options".to_owned());
    }
    if channel.turn.is_some() {
        return Err("a turn is in progress; interrupt it before files are rewound".to_owned());
    }
    let prompt = request.text("user_message_id").unwrap_or_default();
    let failed = |error: windlass::RewindError| error.to_string();
    let rewind = Rewind::to_message(&channel.session, prompt).await.map_err(failed)?;
    if rewind.prompt() != Some(prompt) {
        return Err(format!("no file checkpoint found for message {prompt}"));
    }
    let tools = &channel.setup.workplace;
    let plan = rewind.plan_files(tools).map_err(failed)?;
    if request.flag("dry_run") {
        return Ok(describe(&plan));
    }
    rewind.rewind_files(tools, &plan).map_err(failed)?;
    Ok(describe(&plan))
}

fn describe(plan: &FileRewind) -> Value {
    let files: Vec<&Path> = plan.changed_files().collect();
    let mut answer = json!({
        "canRewind": plan.conflicts().is_empty(),
        "filesChanged": files,
        "insertions": plan.insertions,
        "deletions": plan.deletions,
    });
    if let Some(path) = plan.conflicts().first() {
        let reason = format!("{} was changed by something else since", path.display());
        if let Some(fields) = answer.as_object_mut() {
            fields.insert("error".to_owned(), Value::from(reason));
        }
    }
    answer
}
