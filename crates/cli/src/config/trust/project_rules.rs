//! Saves an allow rule in the project's local settings file or in the user's, exactly as it was shown.

use std::path::Path;

use anyhow::Context;
use serde_json::{Value, json};
use windlass::core::permission::PermissionRule;

use crate::config::claude::config_file::{ConfigFile, FileOwner};
use crate::config::paths;
use crate::config::trust::folder_trust::{FolderTrust, TrustState};
use crate::config::trust::trust_file::TrustDecision;

/// Maximum size of the file in bytes.
const MAX_FILE_BYTES: u64 = 4 << 20;

/// Saves the rule in the user's own settings, for all folders. The rest of the file is kept.
pub(crate) fn save_user_allow_rule(rule: &PermissionRule) -> anyhow::Result<()> {
    let folder = paths::user_settings_folder().context("there is no home folder; set HOME")?;
    write_rule(&ConfigFile::new(&folder, "settings.json", FileOwner::User), rule)
}

/// Saves the rule. The rest of the file is kept, and the folder stays trusted if it was.
pub(crate) fn save_allow_rule(workspace: &Path, rule: &PermissionRule) -> anyhow::Result<()> {
    let before = FolderTrust::load(workspace, |_| true)?;
    let name = ".claude/settings.local.json";
    write_rule(&ConfigFile::new(workspace, name, FileOwner::Project), rule)?;
    if before.trust == TrustState::Trusted {
        FolderTrust::load(workspace, |_| true)?.record_decision(TrustDecision::Trusted)?;
    }
    Ok(())
}

fn write_rule(config: &ConfigFile, rule: &PermissionRule) -> anyhow::Result<()> {
    let file = config.path();
    let text = config.read(MAX_FILE_BYTES);
    let text =
        text.map_err(|error| anyhow::anyhow!("the settings file {} {error}", file.display()))?;
    let mut settings: Value = match text {
        Some(text) => serde_json::from_str(&text)
            .with_context(|| format!("{} is not valid JSON; fix it", file.display()))?,
        None => json!({}),
    };
    let Some(table) = settings.as_object_mut() else {
        anyhow::bail!("{} is not a JSON object; fix it", file.display());
    };
    let permissions = table.entry("permissions").or_insert_with(|| json!({}));
    let Some(list) = permissions
        .as_object_mut()
        .map(|permissions| permissions.entry("allow").or_insert_with(|| json!([])))
        .and_then(Value::as_array_mut)
    else {
        anyhow::bail!("the `permissions` section of {} is malformed; fix it", file.display());
    };
    let text = Value::String(rule.text().to_string());
    if !list.contains(&text) {
        list.push(text);
    }
    let written = serde_json::to_string_pretty(&settings)? + "\n";
    let folder = file.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder)
        .and_then(|()| std::fs::write(&file, written))
        .with_context(|| format!("{} cannot be written", file.display()))
}
