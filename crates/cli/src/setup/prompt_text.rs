//! The text that a run begins with: system prompt, output style and memory files.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use windlass::core::settings::conversation_settings::Settings;
use windlass::ports::Clock;
use windlass::tools::{ImportPolicy, MemoryNotes};

use crate::args::{AgentArgs, PermissionArgs};
use crate::config::claude::output_styles::{self, OutputStyle, OutputStyles};
use crate::config::claude::{memory_files, settings_sources};
use crate::config::trust::folder_trust::{FolderTrust, TrustState};
use crate::prompt::environment::describe_environment;
use crate::terminal::time_format::format_local_date;
use crate::{messages, sdk, terminal};

/// Reads the output styles, and reports what is wrong with them and with the chosen one. For an SDK
/// an unknown style has no effect: its programs name styles that other installations have.
pub(super) fn check_styles(
    args: &PermissionArgs,
    folder: &FolderTrust,
    chosen: &str,
) -> anyhow::Result<OutputStyles> {
    let styles = output_styles::load_styles(|source| args.reads_source(source), folder);
    styles.problems.iter().for_each(|problem| terminal::print_note(&messages::warning(problem)));
    settings_sources::report_page_findings(args, "output style", &styles.findings)?;
    match styles.find(chosen) {
        Err(error) if sdk::is_sdk_host() => {
            terminal::print_note(&messages::warning(&format!("{error}; it has no effect")));
        }
        found => drop(found?),
    }
    Ok(styles)
}

/// Adds memory files to the settings for the model, and reports problems with them.
fn add_memory_files(
    settings: &mut Settings,
    args: &PermissionArgs,
    folder: &FolderTrust,
) -> Vec<PathBuf> {
    let memory = memory_files::load_memory_files(folder, |source| args.reads_source(source));
    memory.problems.iter().for_each(|problem| terminal::print_note(&messages::warning(problem)));
    settings.user_context = Arc::from(messages::memory_context(&memory.files));
    memory.files.into_iter().map(|file| file.path).collect()
}

/// Adds what the model is told with the first prompt: memory files, which are returned, and the
/// environment if there is a clock for it.
pub(super) fn add_context(
    settings: &mut Settings,
    args: &AgentArgs,
    folder: &FolderTrust,
    clock: Option<&Arc<dyn Clock>>,
) -> Vec<PathBuf> {
    let files = add_memory_files(settings, &args.permissions, folder);
    if let Some(clock) = clock.filter(|_| args.prompt.system_prompt.is_none()) {
        add_environment(settings, &folder.folder, clock);
    }
    files
}

/// Tells the model of the machine and the folder. It is context of the first prompt and not a part of
/// the system prompt: a run that is resumed on another day goes on without a question.
fn add_environment(settings: &mut Settings, workspace: &Path, clock: &Arc<dyn Clock>) {
    let date = format_local_date(clock.now());
    let environment = describe_environment(&date, workspace);
    let memory = settings.user_context.trim();
    let gap = if memory.is_empty() { "" } else { "\n\n" };
    settings.user_context = Arc::from(format!("{environment}{gap}{memory}"));
}

/// What memory files of nested folders may import, and how problems with them are reported.
pub(super) fn memory_of_folders(trust: TrustState) -> (ImportPolicy, MemoryNotes) {
    let imports = match trust {
        TrustState::Trusted => ImportPolicy::Allowed,
        TrustState::Untrusted => ImportPolicy::Ignored,
    };
    (imports, Arc::new(|problem: &str| terminal::print_note(&messages::warning(problem))))
}

/// Sets the system prompt: the given one, or the default one in the chosen style; what is appended
/// to it; and end markers.
pub(super) fn set_system_prompt(
    settings: &mut Settings,
    args: &AgentArgs,
    (workspace, style): (&Path, Option<&OutputStyle>),
    markers: &str,
) {
    let own = args.prompt.system_prompt.clone();
    let own = own.unwrap_or_else(|| match style {
        Some(style) => messages::styled_system_prompt(style, workspace),
        None => messages::system_prompt(workspace),
    });
    let parts = [Some(own), args.prompt.append_system_prompt.clone(), Some(markers.to_owned())];
    settings.system = Arc::from(join_parts(parts.into_iter().flatten()));
}

fn join_parts(parts: impl IntoIterator<Item = String>) -> String {
    let parts = parts.into_iter().filter(|part| !part.trim().is_empty());
    parts.collect::<Vec<_>>().join("\n\n")
}
