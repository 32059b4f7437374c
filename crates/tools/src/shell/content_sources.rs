//! Where content of a command's output came from that others wrote: hosts that it reached, and files
//! outside the workspace that it names.

use std::path::Path;
use std::sync::Arc;

use windlass_core::permission::{ContentSource, PathZone, ShellCommand, SimpleCommand};
use windlass_runtime::ports::SourceReporter;

/// Programs whose output comes from the network. Where the sandbox holds the network, it knows the
/// hosts; elsewhere the name of the program is all there is to see.
const NETWORK_PROGRAMS: [&str; 12] =
    ["aria2c", "curl", "ftp", "gh", "glab", "http", "https", "lynx", "nc", "scp", "ssh", "wget"];

/// Folders that contain nothing that others write to be read.
const SYSTEM_FOLDERS: [&str; 3] = ["/dev", "/proc/self", "/usr/bin"];

/// Reports the sources of a command that has ended, and reached these hosts.
pub(super) fn report_sources(shell: &ShellCommand, hosts: &[String], sources: &SourceReporter) {
    for host in hosts {
        sources.report(ContentSource::Web(Arc::from(host.as_str())));
    }
    for command in shell.commands.iter().filter(|command| reads_network(command)) {
        let words = command.words.iter().take(2).map(AsRef::as_ref).collect::<Vec<&str>>();
        sources.report(ContentSource::Web(Arc::from(words.join(" "))));
    }
    for used in shell.reads.iter().filter(|used| used.zone == PathZone::Outside) {
        let path = Path::new(&*used.path);
        let is_content = !SYSTEM_FOLDERS.iter().any(|folder| path.starts_with(folder));
        if is_content && path.exists() {
            sources.report(ContentSource::File(used.path.clone()));
        }
    }
}

fn reads_network(command: &SimpleCommand) -> bool {
    let name = command.name().rsplit('/').next().unwrap_or_default();
    let is_fetching = || {
        let fetching = ["clone", "fetch", "ls-remote", "pull"];
        command.words.iter().skip(1).any(|word| fetching.contains(&&**word))
    };
    NETWORK_PROGRAMS.contains(&name) || (name == "git" && is_fetching())
}
