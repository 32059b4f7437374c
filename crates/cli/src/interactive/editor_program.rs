//! Edits the prompt in the editor of the user.

use std::io::Write;
use std::path::Path;

use super::session_loop::{SessionLoop, write_out};

/// The editor if no variable names one.
const DEFAULT_EDITOR: &str = "vi";

impl SessionLoop {
    /// Opens a memory file in the editor; it counts from the next session on.
    pub(super) async fn edit_memory_file(&mut self, path: &Path) -> anyhow::Result<()> {
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder)?;
        }
        let ended = self.run_editor_at_terminal(path).await?;
        let text = match ended {
            Ok(true) => format!("{} counts from the next session on.", path.display()),
            Ok(false) => "The editor failed.".to_owned(),
            Err(error) => format!("The editor cannot be started ({error}); set $EDITOR."),
        };
        self.add_note(&text);
        Ok(())
    }

    /// Leaves the terminal to the editor until it ends.
    async fn run_editor_at_terminal(
        &mut self,
        file: &Path,
    ) -> anyhow::Result<std::io::Result<bool>> {
        write_out(&self.painter.clear())?;
        self.modes.pause();
        let ended = run_editor(file).await;
        self.modes.resume()?;
        let (columns, rows) = super::terminal_size();
        self.model.resize(columns, rows);
        self.painter.resize(columns, rows);
        Ok(ended)
    }

    /// Opens the prompt in `$VISUAL` or `$EDITOR`, and takes what was saved.
    pub(super) async fn open_editor(&mut self) -> anyhow::Result<()> {
        let typed = self.model.composer.buffer.text().to_owned();
        let text = self.model.composer.expand(&typed);
        let folder = crate::config::paths::state_folder()?;
        std::fs::create_dir_all(&folder)?;
        let file = folder.join(format!("prompt-{}.md", crate::setup::new_id()));
        std::fs::File::create(&file)?.write_all(text.as_bytes())?;
        let ended = self.run_editor_at_terminal(&file).await?;
        let edited = std::fs::read_to_string(&file);
        let _ = std::fs::remove_file(&file);
        match (ended, edited) {
            (Ok(true), Ok(edited)) => self.model.composer.buffer.set(edited.trim_end()),
            (Ok(_), _) => {
                self.model.hint = Some("The editor failed; the prompt is as it was.".to_owned());
            }
            (Err(error), _) => {
                self.model.hint =
                    Some(format!("The editor cannot be started ({error}); set $EDITOR."));
            }
        }
        Ok(())
    }
}

/// Runs the editor; returns whether it succeeded.
#[expect(clippy::disallowed_methods, reason = "the user's own editor, at the user's terminal")]
async fn run_editor(file: &Path) -> std::io::Result<bool> {
    let named = |name: &str| std::env::var(name).ok().filter(|editor| !editor.trim().is_empty());
    let editor = named("VISUAL").or_else(|| named("EDITOR"));
    let editor = editor.unwrap_or_else(|| DEFAULT_EDITOR.to_owned());
    // The variable may have arguments, as in `code --wait`.
    let mut command = tokio::process::Command::new("sh");
    command.arg("-c").arg(format!("{editor} \"$1\"")).arg("sh").arg(file);
    Ok(command.status().await?.success())
}
