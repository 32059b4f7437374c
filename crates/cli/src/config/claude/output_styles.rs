//! Output styles: `output-styles/*.md` in the settings folder of the user and of the project. A style
//! is text for the system prompt; the setting `outputStyle` chooses one.
//!
//! Styles are text, so those of an untrusted folder count too. There they do not hide the user's own.

use std::path::Path;

use anyhow::bail;

use crate::config::claude::config_file::{ConfigFile, FileOwner, list_files};
use crate::config::claude::front_matter::MarkdownPage;
use crate::config::claude::page_check;
use crate::config::claude::settings_check::SettingsFindings;
use crate::config::claude::settings_sources::SettingsSource;
use crate::config::paths;
use crate::config::trust::folder_trust::{FolderTrust, TrustState, is_user_folder};

#[cfg(test)]
#[path = "output_styles_tests.rs"]
mod output_styles_tests;

/// Maximum size of one file in bytes.
const MAX_FILE_BYTES: u64 = 256 << 10;

/// Maximum number of styles that are read.
const MAX_STYLES: usize = 100;

/// The style that changes nothing.
pub(crate) const DEFAULT_STYLE: &str = "default";

/// An output style.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct OutputStyle {
    /// The name that `outputStyle` gives.
    pub(crate) name: String,
    /// The text for the system prompt.
    pub(crate) text: String,
    /// Whether the instructions for work on code stay in the system prompt.
    pub(crate) keeps_coding_instructions: bool,
}

/// The styles that can be chosen, and what is wrong with files that are left out.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct OutputStyles {
    pub(crate) found: Vec<OutputStyle>,
    pub(crate) problems: Vec<String>,
    /// Findings in the front matter, each with its file and line.
    pub(crate) findings: SettingsFindings,
}

/// Reads the styles of the sources in use.
pub(crate) fn load_styles(reads: impl Fn(&str) -> bool, folder: &FolderTrust) -> OutputStyles {
    let user = paths::user_settings_folder().filter(|_| reads("user"));
    let user = user.map(|user| list_style_files(&user, "output-styles", FileOwner::User));
    let project = match reads("project") && !is_user_folder(&folder.folder) {
        true => list_style_files(&folder.folder, ".claude/output-styles", FileOwner::Project),
        false => Vec::new(),
    };
    let user = user.unwrap_or_default();
    // A later style replaces an earlier one of the same name.
    let files = match folder.trust {
        TrustState::Trusted => [user, project],
        TrustState::Untrusted => [project, user],
    };
    let mut styles = OutputStyles::default();
    files.iter().flatten().for_each(|file| styles.add_file(file));
    styles.found.sort_by(|one, other| one.name.cmp(&other.name));
    styles.found.truncate(MAX_STYLES);
    styles
}

/// The style that the settings choose: the last one wins.
pub(crate) fn chosen_style(sources: &[SettingsSource]) -> &str {
    let chosen = sources.iter().rev().find_map(|source| source.output_style.as_deref());
    chosen.filter(|name| !name.is_empty()).unwrap_or(DEFAULT_STYLE)
}

fn list_style_files(folder: &Path, sub: &str, owner: FileOwner) -> Vec<ConfigFile> {
    let mut files = list_files(folder, Path::new(sub), owner, 1, MAX_STYLES);
    files.retain(|file| file.name().extension().is_some_and(|ext| ext == "md"));
    files
}

impl OutputStyles {
    /// The names that `outputStyle` can give.
    pub(crate) fn names(&self) -> Vec<String> {
        let own = self.found.iter().map(|style| style.name.clone());
        std::iter::once(DEFAULT_STYLE.to_owned()).chain(own).collect()
    }

    /// Finds a style by its name; `None` for the default style.
    pub(crate) fn find(&self, name: &str) -> anyhow::Result<Option<&OutputStyle>> {
        match self.found.iter().find(|style| style.name == name) {
            Some(style) => Ok(Some(style)),
            None if name.eq_ignore_ascii_case(DEFAULT_STYLE) => Ok(None),
            None => {
                bail!("unknown output style `{name}`; available: {}", self.names().join(", "))
            }
        }
    }

    fn add_file(&mut self, file: &ConfigFile) {
        let page = file.read(MAX_FILE_BYTES).map_err(|error| format!("it {error}"));
        let page = page.and_then(|text| {
            MarkdownPage::parse_optional(&text.ok_or("the file no longer exists")?)
        });
        let style = page.and_then(|page| {
            self.findings.extend_in(&file.path(), page_check::check_style(&page));
            style_of(file, &page)
        });
        match style {
            Ok(style) => {
                self.found.retain(|known| known.name != style.name);
                self.found.push(style);
            }
            Err(reason) => {
                self.problems.push(format!("{} is ignored: {reason}", file.path().display()));
            }
        }
    }
}

fn style_of(file: &ConfigFile, page: &MarkdownPage) -> Result<OutputStyle, String> {
    let stem = file.name().file_stem().and_then(|stem| stem.to_str());
    let name = page.get("name").or(stem).ok_or("its name is not UTF-8; give `name`")?;
    if page.body.is_empty() {
        return Err("the file has no text; write it below the front matter".to_owned());
    }
    let keeps_coding_instructions = match page.get("keep-coding-instructions") {
        None | Some("false") => false,
        Some("true") => true,
        Some(other) => {
            return Err(format!("`keep-coding-instructions` is `{other}`; use true or false"));
        }
    };
    Ok(OutputStyle { name: name.to_owned(), text: page.body.clone(), keeps_coding_instructions })
}
