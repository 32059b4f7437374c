//! A rule that a person keeps for a project: written into its local settings file exactly as it was
//! shown.

use std::path::Path;

use anyhow::Context;
use serde_json::{Value, json};
use windlass::core::permission::Rule;

/// Writes the rule. What else stands in the file stays.
pub(crate) fn allow(workspace: &Path, rule: &Rule) -> anyhow::Result<()> {
    let folder = workspace.join(".claude");
    let file = folder.join("settings.local.json");
    let mut settings: Value = match std::fs::read_to_string(&file) {
        Ok(text) => serde_json::from_str(&text)
            .with_context(|| format!("{} is not valid; mend it", file.display()))?,
        Err(_) => json!({}),
    };
    let Some(table) = settings.as_object_mut() else {
        anyhow::bail!("{} is not a JSON object; mend it", file.display());
    };
    let permissions = table.entry("permissions").or_insert_with(|| json!({}));
    let Some(list) = permissions
        .as_object_mut()
        .map(|permissions| permissions.entry("allow").or_insert_with(|| json!([])))
        .and_then(Value::as_array_mut)
    else {
        anyhow::bail!("the permissions in {} are not as they should be; mend them", file.display());
    };
    let text = Value::String(rule.text().to_string());
    if !list.contains(&text) {
        list.push(text);
    }
    let written = serde_json::to_string_pretty(&settings)? + "\n";
    std::fs::create_dir_all(&folder)
        .and_then(|()| std::fs::write(&file, written))
        .with_context(|| format!("{} cannot be written", file.display()))
}
