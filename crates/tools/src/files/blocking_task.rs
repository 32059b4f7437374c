//! Runs file work on a blocking thread.

use windlass_core::call::outcome::{ToolError, ToolOutcome};
use windlass_runtime::ports::BoxFuture;

/// Runs `work` on a blocking thread and returns its outcome.
pub(crate) fn run_blocking<T: Into<ToolOutcome> + Send + 'static>(
    work: impl FnOnce() -> Result<T, ToolError> + Send + 'static,
) -> BoxFuture<'static, ToolOutcome> {
    Box::pin(async move {
        match tokio::task::spawn_blocking(work).await {
            Ok(Ok(brought)) => brought.into(),
            Ok(Err(error)) => ToolOutcome::Failed(error),
            Err(broken) => ToolOutcome::Failed(panic_error(&broken)),
        }
    })
}

/// Returns the error for work that panicked: a file may be malformed in ways that make a parser
/// panic.
fn panic_error(broken: &tokio::task::JoinError) -> ToolError {
    ToolError::new(
        "tool_panicked",
        &format!("the tool panicked: {broken}; effects unknown"),
        "check what it did before you run it again",
    )
}
