//! Rechecks the paths of a command when it starts: an earlier call of the same reply, or a human
//! who took an hour to answer, may have changed where they lead.

use windlass_core::call::outcome::ToolError;
use windlass_core::permission::{CallSubject, PathUse, PathZone, ShellCommand};

/// Returns the error for a command that stayed in the workspace when it was authorised and no
/// longer does.
pub(super) fn changed_paths_error(judged: &CallSubject, now: &ShellCommand) -> Option<ToolError> {
    let CallSubject::Shell(before) = judged else { return None };
    if before.folder != now.folder {
        let shown =
            |folder: &str| if folder.is_empty() { ".".to_owned() } else { folder.to_owned() };
        let (from, to) = (shown(&before.folder), shown(&now.folder));
        return Some(changed(&format!("it would start in the folder {to} instead of {from}")));
    }
    if !before.unsupported.is_empty() || all_paths(before).any(is_outside_workspace) {
        return None;
    }
    let moved =
        all_paths(now).find(|used| is_outside_workspace(used)).map(|used| used.path.to_string());
    let doubt = now.unsupported.first().map(ToString::to_string);
    let what = moved.map(|path| format!("{path} now leads elsewhere")).or(doubt)?;
    Some(changed(&what))
}

fn changed(what: &str) -> ToolError {
    ToolError::new(
        "files_changed",
        &format!("files have changed since this command was authorised: {what}"),
        "it did not run; call it again to have it authorised again",
    )
}

fn all_paths(shell: &ShellCommand) -> impl Iterator<Item = &PathUse> {
    shell.reads.iter().chain(&shell.writes).chain(&shell.redirects)
}

fn is_outside_workspace(used: &PathUse) -> bool {
    used.zone != PathZone::Workspace
}
