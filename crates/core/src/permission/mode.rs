//! The permission mode: what happens between the rules that hold back and the rules that let go.

use serde::{Deserialize, Serialize};

/// A mode.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Mode {
    /// What no rule covers is asked.
    #[default]
    Default,
    /// File edits in the workspace, `mkdir`, `touch`, `mv` and `cp` run without asking.
    AcceptEdits,
    /// Nothing that has effects runs.
    Plan,
    /// No tool runs at all.
    #[serde(rename = "plan:none")]
    PlanNone,
    /// Nobody is asked: what no rule allows is denied.
    DontAsk,
    /// A classifier decides what would be asked.
    Auto,
    /// Everything runs that no rule holds back.
    BypassPermissions,
}

/// A mode that may not be used here.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "bypassPermissions is refused for root: every command would run with all rights; run as another \
     user, or say with IS_SANDBOX=1 that this is a sandbox"
)]
pub struct RootRefused;

/// Whether the process may do everything on this machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rights {
    /// An ordinary user.
    Ordinary,
    /// Root on a machine that matters.
    Root,
    /// Root in a sandbox, as somebody said.
    RootInSandbox,
}

impl Mode {
    /// The mode, if it may be used with these rights.
    pub fn checked(self, rights: Rights) -> Result<Self, RootRefused> {
        match (self, rights) {
            (Self::BypassPermissions, Rights::Root) => Err(RootRefused),
            _ => Ok(self),
        }
    }
}
