//! Who the server runs as: it refuses to run as root, so root lends it to somebody else.

use std::fs;

use anyhow::{Context, Result};

/// An account by its numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Account {
    pub(crate) user: u32,
    pub(crate) group: u32,
}

/// Accounts that have nothing to lose, best first.
const HARMLESS: [&str; 2] = ["postgres", "nobody"];

/// Nobody special for anybody but root.
pub(crate) fn for_server() -> Result<Option<Account>> {
    if !rustix::process::geteuid().is_root() {
        return Ok(None);
    }
    let accounts = fs::read_to_string("/etc/passwd").context("the accounts cannot be read")?;
    let found = HARMLESS.iter().find_map(|name| find(&accounts, name));
    found.context("there is neither an account `postgres` nor `nobody` to run the server").map(Some)
}

fn find(accounts: &str, name: &str) -> Option<Account> {
    let mut fields = accounts.lines().map(|line| line.split(':'));
    let mut fields = fields.find_map(|mut line| (line.next() == Some(name)).then_some(line))?;
    let user = fields.nth(1)?.parse().ok()?;
    let group = fields.next()?.parse().ok()?;
    Some(Account { user, group })
}
