//! The permission mode: what happens to calls between deny and ask rules on one side and allow
//! rules on the other.

use serde::{Deserialize, Serialize};

/// A permission mode.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum PermissionMode {
    /// A call that no rule covers needs approval.
    #[default]
    Default,
    /// File edits in the workspace, `mkdir`, `touch`, `mv` and `cp` run without approval.
    AcceptEdits,
    /// Nothing that has side effects runs.
    Plan,
    /// No tool runs at all.
    #[serde(rename = "plan:none")]
    PlanNone,
    /// Never asks: what no rule allows is denied.
    DontAsk,
    /// A classifier decides about calls that would need approval.
    Auto,
    /// Everything runs that no rule denies or asks about.
    BypassPermissions,
}

/// A mode that may not be used here.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "bypassPermissions is not allowed for root, because every command would run with full privileges; \
     run as another user, or set IS_SANDBOX=1 in a sandbox"
)]
pub struct BypassRefusedForRoot;

/// The rights of the process on this machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProcessRights {
    /// An ordinary user.
    Ordinary,
    /// Root outside of a sandbox.
    Root,
    /// Root in a declared sandbox.
    RootInSandbox,
}

impl PermissionMode {
    /// Returns the mode, if it may be used with these rights.
    pub fn validate(self, rights: ProcessRights) -> Result<Self, BypassRefusedForRoot> {
        match (self, rights) {
            (Self::BypassPermissions, ProcessRights::Root) => Err(BypassRefusedForRoot),
            _ => Ok(self),
        }
    }
}
