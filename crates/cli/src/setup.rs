//! Puts the parts together from what was typed and from the environment.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, bail};
use windlass::scripted::Script;
use windlass::sqlite::SqliteStore;
use windlass::tools::{AskUserQuestion, Bash, Read};
use windlass::{LeaseTimes, SystemClock, Windlass};

use crate::args::{AgentArgs, StoreArgs};

/// A new random id.
pub(crate) fn new_id() -> String {
    uuid::Uuid::now_v7().to_string()
}

/// A name for a new conversation.
pub(crate) fn new_conversation() -> String {
    format!("conversation:{}", new_id())
}

/// Opens the store.
pub(crate) fn store(args: &StoreArgs) -> anyhow::Result<SqliteStore> {
    Ok(SqliteStore::open(store_path(args)?)?)
}

/// Where the store is.
pub(crate) fn store_path(args: &StoreArgs) -> anyhow::Result<PathBuf> {
    match &args.store {
        Some(path) => Ok(path.clone()),
        None => Ok(state_folder()?.join("windlass.db")),
    }
}

/// Where state lives: `$WINDLASS_HOME`, else the XDG state folder.
pub(crate) fn state_folder() -> anyhow::Result<PathBuf> {
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    if let Some(home) = set("WINDLASS_HOME") {
        return Ok(PathBuf::from(home));
    }
    if let Some(state) = set("XDG_STATE_HOME") {
        return Ok(PathBuf::from(state).join("windlass"));
    }
    match set("HOME") {
        Some(home) => Ok(PathBuf::from(home).join(".local/state/windlass")),
        None => bail!("no home folder is known; set WINDLASS_HOME or give --store FILE"),
    }
}

/// Starts driving.
pub(crate) async fn start(args: &AgentArgs) -> anyhow::Result<Windlass> {
    let script = script(args)?;
    let workspace = args.workspace.canonicalize().with_context(|| {
        format!(
            "the folder {} cannot be opened; give another with --workspace",
            args.workspace.display()
        )
    })?;
    let mut builder = Windlass::builder()
        .scripted(script)
        .store(store(&args.store)?)
        .tool(Read::new(&workspace))
        .tool(Bash::new(&workspace, Arc::new(SystemClock::start())))
        .tool(AskUserQuestion)
        .lease(LeaseTimes { beat_ms: args.beat_ms, expiry_ms: args.lease_ms });
    for rule in &args.allow {
        builder = builder.allow(rule);
    }
    for rule in &args.deny {
        builder = builder.deny(rule);
    }
    if let Some(rounds) = args.max_turns {
        builder = builder.settings(|settings| {
            settings.limits = settings.limits.clone().with_tool_rounds(rounds.max(1));
        });
    }
    Ok(builder.start().await?)
}

fn script(args: &AgentArgs) -> anyhow::Result<Script> {
    let Some(path) = &args.script else {
        bail!("no model is configured; give the offline model a script with --script FILE");
    };
    read_script(path)
}

/// Reads a script.
pub(crate) fn read_script(path: &Path) -> anyhow::Result<Script> {
    let text = std::fs::read_to_string(path)
        .with_context(|| format!("the script {} cannot be read", path.display()))?;
    Script::parse(&text).with_context(|| format!("the script {} is not valid", path.display()))
}
