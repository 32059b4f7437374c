//! Hooks that are functions of a program: they are registered by id, and called with the same
//! payload as commands.

use std::sync::Arc;

use serde_json::Value;
use windlass_runtime::ports::BoxFuture;

/// Calls the functions that a program registered as hooks.
pub trait HookCallbacks: Send + Sync + 'static {
    /// Calls one function and returns the object it returned. The caller does not enforce the
    /// timeout of the request.
    fn call<'a>(
        &'a self,
        request: HookCallbackRequest<'a>,
    ) -> BoxFuture<'a, Result<Value, HookCallbackError>>;
}

/// What a hook function is called with.
#[derive(Debug, Clone, Copy)]
pub struct HookCallbackRequest<'a> {
    /// The id under which the function was registered.
    pub callback: &'a str,
    /// The provider's id of the tool call, if the event is about one.
    pub tool_use_id: Option<&'a str>,
    /// The payload of the event.
    pub input: &'a Value,
    /// How long the function may take.
    pub timeout_ms: u64,
}

/// Why a hook function returned nothing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HookCallbackError {
    /// It took too long.
    #[error("the callback took longer than {after_ms} ms")]
    TimedOut {
        /// The time it had.
        after_ms: u64,
    },
    /// It failed, or cannot be reached.
    #[error("the callback failed: {0}")]
    Failed(String),
}

/// What a hook decided about a call that needs approval.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PermissionHookDecision {
    /// The call runs.
    Allow {
        /// The input it runs with, if it is another one.
        input: Option<Value>,
        /// Changes of the permissions, as the SDKs describe them.
        permissions: Option<Value>,
    },
    /// The call does not run.
    Deny {
        /// Reason for the model.
        reason: Arc<str>,
        /// Whether the run ends too.
        interrupt: bool,
    },
}

/// A command that is a hook was started, or has returned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HookReport<'a> {
    /// A command was started.
    Started {
        /// The command.
        hook: &'a HookRunLabel,
    },
    /// A command has returned.
    Returned {
        /// The command.
        hook: &'a HookRunLabel,
        /// What it wrote to standard output.
        stdout: &'a str,
        /// What it wrote to standard error.
        stderr: &'a str,
        /// Its exit code; `None` if it was killed or did not start.
        exit_code: Option<i32>,
    },
}

/// One run of a hook.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HookRunLabel {
    /// A number that is unique in this process.
    pub number: u64,
    /// The event, and what it is about, such as `PreToolUse:Bash`.
    pub label: String,
    /// The event.
    pub event: &'static str,
}
