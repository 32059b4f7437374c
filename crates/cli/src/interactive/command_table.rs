//! The keys and commands of a session, for the help and for completion.

use super::completion::Candidate;
use crate::config::claude::custom_commands::CustomCommand;

/// The commands of a session, with what they do.
pub(super) const SESSION_COMMANDS: [(&str, &str); 27] = [
    ("agents", "list the sub-agents"),
    ("clear", "start a new conversation; this one is kept"),
    ("compact", "compact the context now; text after it says what to keep"),
    ("context", "show how full the context is"),
    ("cost", "show what the conversation has used"),
    ("doctor", "check keys, store, configuration and sandbox"),
    ("effort", "show or set how much effort the model makes"),
    ("explain", "why the last run stopped or waits; or another one, by its id"),
    ("export", "write the conversation to a file: Markdown, or JSON for *.json"),
    ("fork", "continue in a copy of the conversation"),
    ("help", "list keys and commands"),
    ("hooks", "list the hooks in force"),
    ("init", "have the model write CLAUDE.md for this project"),
    ("mcp", "list the MCP servers; with a name: its tools"),
    ("memory", "list the memory files, and edit one"),
    ("mode", "show or switch the permission mode (Shift-Tab)"),
    ("model", "show or switch the model"),
    ("permissions", "list the rules; `allow RULE`, `ask`, `deny`, `remove RULE` change them"),
    ("queue", "edit or remove the prompts that wait for the run to end"),
    ("quit", "leave; the conversation is kept"),
    ("resume", "open another conversation"),
    ("rewind", "go back to an earlier prompt: the conversation, the files, or both"),
    ("skills", "list the skills"),
    ("status", "show the version, the conversation, the folder and the sandbox"),
    ("tasks", "list running commands and sub-agents with their output"),
    ("vim", "switch vi keys on or off"),
    ("exit", "leave; the conversation is kept"),
];

/// The keys, for the help.
pub(super) const KEYS: [(&str, &str); 16] = [
    ("Enter", "send; while the model works: tell it something on the way"),
    ("Alt-Enter", "new line; while the model works: queue the prompt behind the run"),
    ("Ctrl-J, \\ Enter", "new line"),
    ("Esc", "interrupt; while a call runs: once it is done, or at once with Esc again"),
    ("Esc Esc", "go back to an earlier prompt, when nothing runs"),
    ("Ctrl-C", "clear the text, else interrupt; twice: leave (Ctrl-D, too)"),
    ("Shift-Tab", "switch the mode: ask first, allow edits, plan"),
    ("Up, Down", "older and newer prompts; Up takes the last queued prompt back; /queue lists all"),
    ("Ctrl-R", "search the prompts of all sessions"),
    ("Ctrl-B", "move the running command to the background; /tasks lists them"),
    ("Ctrl-O", "unfold the last output or thought; again: the one before"),
    ("Ctrl-G", "edit the prompt in $EDITOR"),
    ("Ctrl-A E B F K U W Y", "move and edit as in Emacs; Ctrl-_ undoes; /vim for vi keys"),
    ("Ctrl-L, Ctrl-Z", "draw again; suspend until `fg`"),
    ("@path", "attach a file or the names in a folder; Tab completes"),
    ("!command", "run a command yourself; the model reads its output with the next prompt"),
];

/// The names that a command can have, for completion.
pub(super) fn command_candidates(customs: &[CustomCommand]) -> Vec<Candidate> {
    let candidate =
        |name: &str, about: &str| Candidate { text: format!("/{name}"), about: about.to_owned() };
    let ours = SESSION_COMMANDS.iter().map(|(name, about)| candidate(name, about));
    let is_free =
        |custom: &&CustomCommand| SESSION_COMMANDS.iter().all(|(name, _)| *name != custom.name);
    let theirs = customs.iter().filter(is_free).map(|custom| {
        let page = custom.read_page().ok();
        let about = page.map(|page| match page.argument_hint {
            Some(hint) => format!("{hint}  {}", page.description),
            None => page.description,
        });
        candidate(&custom.name, &about.unwrap_or_else(|| "cannot be used".to_owned()))
    });
    let mut all: Vec<Candidate> = ours.chain(theirs).collect();
    all.sort_by(|one, other| one.text.cmp(&other.text));
    all
}
