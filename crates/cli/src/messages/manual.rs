//! Sections of the manual page that the flags do not give: exit status, files, environment,
//! examples.

use std::fmt::Write as _;

use crate::exit::EXIT_STATUS;

/// Files that are read or written.
const FILES: [(&str, &str); 7] = [
    (
        "$WINDLASS_HOME/config.toml, ~/.config/windlass/config.toml",
        "Models, providers, profiles, limits and retention.",
    ),
    (
        "$WINDLASS_HOME/windlass.db, ~/.local/state/windlass/windlass.db",
        "The store, unless --store or $WINDLASS_STORE names another: conversations, runs, traces.",
    ),
    ("trust.json in the state folder", "Folders whose settings may run commands and allow calls."),
    ("tool-state in the state folder", "State that tools keep between runs, by conversation."),
    (
        ".claude/settings.json, .claude/settings.local.json, ~/.claude/settings.json",
        "Permission rules, hooks and environment variables, of the project and of the user.",
    ),
    ("CLAUDE.md, ~/.claude/CLAUDE.md", "Instructions for the model (memory files)."),
    (
        ".claude/agents/*.md, .claude/commands/**/*.md, .claude/output-styles/*.md",
        "Sub-agents, custom commands and output styles.",
    ),
];

/// Variables that are read; docs/environment.md lists all of them.
const ENVIRONMENT: [(&str, &str); 9] = [
    ("WINDLASS_HOME", "Folder of config.toml and of all state. Default: the XDG folders."),
    ("WINDLASS_STORE", "SQLite file or postgres:// address of the store; --store overrides it."),
    ("ANTHROPIC_MODEL", "The model to call; --model overrides it."),
    (
        "ANTHROPIC_API_KEY, OPENAI_API_KEY, GEMINI_API_KEY, …",
        "API keys of providers; `windlass models` names the variable of each.",
    ),
    ("ANTHROPIC_BASE_URL, OPENAI_BASE_URL, …", "Addresses of providers."),
    ("HTTPS_PROXY, NO_PROXY", "Proxy for requests to providers, and hosts to reach directly."),
    ("RUST_LOG", "Level of the program's own log; --log overrides it."),
    ("NO_COLOR", "Print without colors if it is not empty."),
    ("TZ", "Time zone of printed times."),
];

/// Commands to start with.
const EXAMPLES: [(&str, &str); 7] = [
    ("windlass demo", "Watch an agent work, crash and recover, without a key."),
    (
        "windlass -p \"fix the failing test\" --allowedTools \"Edit,Bash(cargo test:*)\"",
        "Run a prompt in this folder and allow edits and one command.",
    ),
    (
        "windlass -p \"now update the changelog\" --continue",
        "Continue the newest conversation of this folder.",
    ),
    (
        "git diff | windlass -p \"review this\" --json",
        "Read the prompt's context from a pipe and print one JSON object.",
    ),
    (
        "windlass runs --waiting; windlass explain; windlass approve",
        "Find a run that waits, see what it asks for, and approve it.",
    ),
    (
        "windlass -p \"summarize the logs\" --detach; windlass worker",
        "Queue a prompt, and process queued prompts.",
    ),
    ("windlass man | man -l -", "Read this page."),
];

/// The sections, in roff.
pub(crate) fn manual_sections() -> String {
    let codes = EXIT_STATUS.map(|(code, meaning)| (code.to_string(), meaning));
    let codes: Vec<(&str, &str)> =
        codes.iter().map(|(code, meaning)| (code.as_str(), *meaning)).collect();
    let sections: [(&str, &[(&str, &str)]); 4] = [
        ("EXIT STATUS", &codes),
        ("FILES", &FILES),
        ("ENVIRONMENT", &ENVIRONMENT),
        ("EXAMPLES", &EXAMPLES),
    ];
    let mut page = String::new();
    for (title, entries) in sections {
        let _ = writeln!(page, ".SH \"{title}\"");
        for (term, text) in entries {
            let _ = writeln!(page, ".TP\n\\fB{}\\fR\n{}", escape_roff(term), escape_roff(text));
        }
    }
    page
}

/// The section that refers a page of one command to the main page.
pub(crate) fn see_also_section() -> &'static str {
    ".SH \"SEE ALSO\"\n\\fBwindlass\\fR(1), for exit status, files, environment and examples\n"
}

/// Escapes what roff would interpret: backslashes, hyphens, and control characters at the start of
/// a line.
fn escape_roff(text: &str) -> String {
    let text = text.replace('\\', "\\e").replace('-', "\\-");
    match text.starts_with(['.', '\'']) {
        true => format!("\\&{text}"),
        false => text,
    }
}
