//! Whether this machine can confine commands, and whether they are confined in this folder.

use windlass_sandbox::{Policy, SandboxLauncher, SandboxLevel};

use super::DoctorCheck;
use crate::args::{PermissionArgs, StoreArgs};
use crate::messages::sandbox;
use crate::setup;

/// Checks the sandbox: a level that cannot be reached is broken, because nothing would run.
pub(super) async fn check(store: &StoreArgs) -> DoctorCheck {
    let args = PermissionArgs { workspace: ".".into(), ..PermissionArgs::default() };
    let choice = match setup::sandbox_of_folder(&args, store) {
        Ok(folder) => folder.choice,
        Err(error) => return DoctorCheck::broken("sandbox", format!("{error:#}")),
    };
    let (level, decided_by) = (choice.level.level.name(), choice.level.decided_by);
    let policy = choice.policy.unwrap_or_else(Policy::read_only);
    match (SandboxLauncher::new(policy).probe().await, choice.level.level) {
        (Ok(mechanism), _) => {
            let says = sandbox::doctor_line(&mechanism.describe(), level, decided_by);
            DoctorCheck::ok("sandbox", says)
        }
        (Err(error), SandboxLevel::Off) => {
            DoctorCheck::note("sandbox", sandbox::doctor_unavailable(&error, level))
        }
        (Err(error), SandboxLevel::ReadOnly | SandboxLevel::WorkspaceWrite) => {
            DoctorCheck::broken("sandbox", sandbox::doctor_unavailable(&error, level))
        }
    }
}
