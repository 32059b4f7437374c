//! Flags whose value is in a file, or that stand for other flags: replaced before anything reads
//! the arguments.

use std::io::Read as _;
use std::path::Path;

use anyhow::{Context, bail};

use crate::args::{AgentArgs, PermissionPromptsArg, PromptArgs, WhenAsked};
use crate::config::claude::agent_spec;

/// Maximum size of a file with a system prompt in bytes.
const MAX_PROMPT_BYTES: u64 = 4 << 20;

/// Replaces flags that stand for others, except `--agent`, which needs all agents to be known: a
/// program may send more of them (`main_agent::apply_main_agent`).
pub(crate) fn resolve_flags(args: &mut AgentArgs) -> anyhow::Result<()> {
    read_prompt_files(&mut args.prompt)?;
    if args.agents.bare {
        args.permissions.setting_sources = Some(String::new());
    }
    if args.permissions.permission_prompts == Some(PermissionPromptsArg::None) {
        args.permissions.when_asked.get_or_insert(WhenAsked::Deny);
    }
    if let Some(text) = args.agents.agents.take() {
        args.agents.given = agent_spec::parse_agents(&text)?;
    }
    Ok(())
}

fn read_prompt_files(prompt: &mut PromptArgs) -> anyhow::Result<()> {
    if let Some(path) = prompt.system_prompt_file.take() {
        prompt.system_prompt = Some(read_text(&path, "--system-prompt-file")?);
    }
    if let Some(path) = prompt.append_system_prompt_file.take() {
        prompt.append_system_prompt = Some(read_text(&path, "--append-system-prompt-file")?);
    }
    Ok(())
}

fn read_text(path: &Path, flag: &str) -> anyhow::Result<String> {
    let mut text = String::new();
    let read = std::fs::File::open(path)
        .and_then(|file| file.take(MAX_PROMPT_BYTES + 1).read_to_string(&mut text));
    let shown = path.display();
    let bytes = read.with_context(|| format!("cannot read {shown}, given with {flag}"))?;
    if bytes as u64 > MAX_PROMPT_BYTES {
        bail!("{shown}, given with {flag}, is larger than 4 MiB; use a smaller file");
    }
    Ok(text)
}
