//! What the program around the service contributes.

use std::sync::Arc;

use serde_json::Value;
use windlass::ports::{BoxFuture, DEFAULT_TENANT, RunInfo};
use windlass::{DriveError, OpenQuestion};

/// Presents runs and questions. The command line implements it with the code of its own commands,
/// so that both say the same.
pub trait RunPresenter: Send + Sync + 'static {
    /// Returns the question in a sentence.
    fn question_text(&self, open: &OpenQuestion) -> String;

    /// Returns why a run stopped or what it waits for, and what to do next: the JSON of
    /// `windlass explain --json`.
    fn explain(&self, run: RunInfo) -> BoxFuture<'_, Result<Value, DriveError>>;

    /// Returns the tenant whose runs the client starts.
    fn tenant(&self) -> Arc<str> {
        Arc::from(DEFAULT_TENANT)
    }

    /// Returns whether the client may know of the run; all of them, unless the program has tenants.
    fn may_see(&self, _run: &RunInfo) -> bool {
        true
    }
}
