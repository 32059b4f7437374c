//! The account the server runs as: PostgreSQL refuses to run as root, so root uses another account.

use std::fs;

use anyhow::{Context, Result};

/// An account with its numeric ids.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ServerAccount {
    pub(crate) user: u32,
    pub(crate) group: u32,
}

/// Unprivileged accounts, by preference.
const UNPRIVILEGED_ACCOUNTS: [&str; 2] = ["postgres", "nobody"];

/// Finds the account for the server; `None` unless this process is root.
pub(crate) fn find_server_account() -> Result<Option<ServerAccount>> {
    if !rustix::process::geteuid().is_root() {
        return Ok(None);
    }
    let accounts = fs::read_to_string("/etc/passwd").context("the accounts cannot be read")?;
    let found = UNPRIVILEGED_ACCOUNTS.iter().find_map(|name| parse_account(&accounts, name));
    found.context("there is neither an account `postgres` nor `nobody` to run the server").map(Some)
}

fn parse_account(accounts: &str, name: &str) -> Option<ServerAccount> {
    let mut fields = accounts.lines().map(|line| line.split(':'));
    let mut fields = fields.find_map(|mut line| (line.next() == Some(name)).then_some(line))?;
    let user = fields.nth(1)?.parse().ok()?;
    let group = fields.next()?.parse().ok()?;
    Some(ServerAccount { user, group })
}
