//! Work with files on a thread that may wait for the disk.

use windlass_core::outcome::{Outcome, ToolError};
use windlass_runtime::ports::Task;

/// Runs `work` on a thread of its own and brings what it brought.
pub(crate) fn blocking<T: Into<Outcome> + Send + 'static>(
    work: impl FnOnce() -> Result<T, ToolError> + Send + 'static,
) -> Task<'static, Outcome> {
    Box::pin(async move {
        match tokio::task::spawn_blocking(work).await {
            Ok(Ok(brought)) => brought.into(),
            Ok(Err(error)) => Outcome::Failed(error),
            Err(broken) => Outcome::Failed(broke_down(&broken)),
        }
    })
}

/// A file can be malformed in ways that nobody has thought of.
fn broke_down(broken: &tokio::task::JoinError) -> ToolError {
    ToolError::new(
        "tool_panicked",
        &format!("the tool broke down: {broken}; effects unknown"),
        "check what it did before doing it again",
    )
}
