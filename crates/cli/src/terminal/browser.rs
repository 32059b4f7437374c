//! Opens pages in the browser of the person at this machine.

use std::path::Path;
use std::process::{Command, Stdio};

/// Programs that open a page in the default browser, if `BROWSER` names none.
const OPENERS: [&str; 2] = ["xdg-open", "open"];

/// Opens a file in the browser: the one in `BROWSER`, or that of the desktop. The file, and not the
/// address in it, is an argument, because the arguments of a process can be seen by every user.
/// Returns whether a program was found; whether it shows the page is not waited for.
pub(crate) fn open_file(page: &Path) -> bool {
    let named = std::env::var("BROWSER").unwrap_or_default();
    let named: Vec<&str> = named.split(':').filter(|name| !name.trim().is_empty()).collect();
    let openers = if named.is_empty() { OPENERS.to_vec() } else { named };
    openers.iter().any(|opener| start(opener, page))
}

/// Starts a program with its output thrown away: it must not write between ours.
#[expect(clippy::disallowed_methods, reason = "the person's own browser is no tool of a run")]
fn start(opener: &str, page: &Path) -> bool {
    let mut words = opener.split_whitespace();
    let Some(program) = words.next() else { return false };
    let mut command = Command::new(program);
    let mut has_place = false;
    for word in words {
        has_place |= word == "%s";
        command.arg(if word == "%s" { page.as_os_str() } else { word.as_ref() });
    }
    if !has_place {
        command.arg(page);
    }
    let quiet = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    quiet.spawn().is_ok()
}
