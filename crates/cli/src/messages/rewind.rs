//! Messages of `windlass rewind`.

use std::path::{Path, PathBuf};

use windlass::tools::FileRewind;

use crate::terminal::number_format::count_noun;

/// Error: files that the rewind would overwrite.
pub(crate) fn files_changed(files: &[PathBuf]) -> String {
    let names: Vec<String> = files.iter().map(|file| file.display().to_string()).collect();
    format!(
        "{} changed after the tools of the conversation wrote to it: {}; nothing was rewound; look \
         at it first, then repeat with --force or with --conversation",
        if files.len() == 1 { "a file was" } else { "files were" },
        names.join(", ")
    )
}

/// Message: where the conversation goes back to.
pub(crate) fn conversation(conversation: &str, prompt: Option<&str>, done: bool) -> String {
    match (prompt, done) {
        (Some(prompt), true) => {
            format!("{conversation} goes on before the prompt {prompt}; the log keeps the rest")
        }
        (Some(prompt), false) => format!("{conversation} would go on before the prompt {prompt}"),
        (None, _) => format!("{conversation} ends with this message; no prompt is taken back"),
    }
}

/// Messages: which files are brought back.
pub(crate) fn files(plan: &FileRewind, done: bool) -> Vec<String> {
    let changed: Vec<&Path> = plan.changed_files().collect();
    let count = count_noun(changed.len() as u64, "file");
    let lines = format!("+{} -{} lines", plan.insertions, plan.deletions);
    let mut messages = vec![match (changed.is_empty(), done) {
        (true, _) => "no file is changed".to_owned(),
        (false, true) => format!("{count} brought back ({lines}):"),
        (false, false) => format!("{count} would be brought back ({lines}):"),
    }];
    messages.extend(changed.iter().map(|path| format!("  {}", path.display())));
    let noted = [
        (plan.conflicts(), "was changed by something else since"),
        (plan.lost(), "left as it is: its contents are not kept any more"),
    ];
    for (files, what) in noted {
        messages.extend(files.iter().map(|path| format!("  {}: {what}", path.display())));
    }
    messages
}
