//! Runs the server's programs.

use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

use crate::server_account::ServerAccount;

/// The programs, and the account that runs them.
#[derive(Debug, Clone)]
pub(crate) struct ServerPrograms {
    pub(crate) folder: PathBuf,
    pub(crate) account: Option<ServerAccount>,
}

impl ServerPrograms {
    /// Runs a program to its end; its error output becomes the error.
    pub(crate) fn run(&self, name: &str, arguments: &[&str], work: &Path) -> Result<()> {
        let mut command = self.build_command(name, work);
        command.args(arguments).stdin(Stdio::null()).stdout(Stdio::null());
        let complaints = work.join(format!("{name}.err"));
        // Into a file: the server inherits it, so a pipe would never be closed.
        command.stderr(std::fs::File::create(&complaints)?);
        let status = command.status().with_context(|| format!("cannot start {name}"))?;
        if status.success() {
            return Ok(());
        }
        let said = std::fs::read_to_string(&complaints).unwrap_or_default();
        bail!("{name} failed ({status}): {}", said.trim())
    }

    #[expect(clippy::disallowed_methods, reason = "starting the server is what this crate is for")]
    pub(crate) fn build_command(&self, name: &str, work: &Path) -> Command {
        let mut command = Command::new(self.folder.join(name));
        command.current_dir(work);
        if let Some(account) = self.account {
            command.uid(account.user).gid(account.group);
        }
        command
    }
}
