//! `/rewind`: back to an earlier prompt, which is chosen, with the conversation, the files, or both.

use anyhow::bail;
use windlass::messages::{Message, MessageTree};
use windlass::tools::FileRewind;
use windlass::{Rewind, RewindError};

use super::opening;
use super::picker::{Picker, PickerChoice, PickerItem, RewindScope};
use super::session_loop::SessionLoop;
use crate::messages;
use crate::terminal::number_format::count_noun;
use crate::terminal::to_one_line;

/// Maximum characters of a prompt in a title.
const MAX_TITLE_CHARS: usize = 60;

impl SessionLoop {
    /// Lists the prompts to go back to.
    pub(super) async fn open_rewind(&mut self) -> anyhow::Result<()> {
        self.check_idle("/rewind")?;
        if !self.has_begun {
            bail!("there is no prompt to go back to yet");
        }
        let log = self.session.read_log().await?;
        let tree = MessageTree::from_log(self.session.lane(), &log);
        let history = opening::read_messages(self.session.lane(), &log, &self.setup)?;
        let texts = history.messages.iter().filter_map(prompt_text);
        let texts: std::collections::HashMap<&str, &str> = texts.collect();
        let item = |id: &&str| {
            let text = texts.get(id).copied().unwrap_or_default().trim().to_owned();
            PickerItem {
                label: text.clone(),
                about: String::new(),
                choice: PickerChoice::RewindPrompt { id: (*id).to_owned(), text },
            }
        };
        let items: Vec<PickerItem> = tree.current_prompts().iter().map(item).collect();
        if items.is_empty() {
            bail!("there is no prompt to go back to yet");
        }
        self.model.picker = Some(Picker::new("Go back to before which prompt?", items));
        Ok(())
    }

    /// Asks what to bring back.
    pub(super) async fn choose_rewind_scope(
        &mut self,
        id: String,
        text: String,
    ) -> anyhow::Result<()> {
        let rewind = Rewind::to_message(&self.session, &id).await?;
        let plan = rewind.plan_files(&self.setup.workplace)?;
        let files = describe_files(&plan);
        let item = |label: &str, about: &str, scope: RewindScope| PickerItem {
            label: label.to_owned(),
            about: about.to_owned(),
            choice: PickerChoice::Rewind { id: id.clone(), text: text.clone(), scope },
        };
        let mut items = Vec::new();
        if plan.changed_files().next().is_some() {
            items.push(item("The conversation and the files", &files, RewindScope::Both));
        }
        items.push(item("The conversation alone", "files stay", RewindScope::Conversation));
        if plan.changed_files().next().is_some() {
            items.push(item("The files alone", &files, RewindScope::Files));
        }
        let title = format!("Back to before: {}", to_one_line(&text, MAX_TITLE_CHARS));
        self.model.picker = Some(Picker::new(&title, items));
        Ok(())
    }

    /// Goes back. The prompt returns to the composer, to be changed and sent again.
    pub(super) async fn rewind_to(
        &mut self,
        id: &str,
        text: &str,
        scope: RewindScope,
    ) -> anyhow::Result<()> {
        self.check_idle("/rewind")?;
        let rewind = Rewind::to_message(&self.session, id).await?;
        if scope != RewindScope::Conversation {
            let plan = rewind.plan_files(&self.setup.workplace)?;
            // Files first: if a crash comes between, the command can be repeated.
            rewind.overwrite_files(&self.setup.workplace, &plan)?;
            messages::rewind::files(&plan, true).iter().for_each(|line| self.add_note(line));
        }
        if scope != RewindScope::Files {
            match rewind.rewind_conversation().await {
                Err(RewindError::FirstPrompt { .. }) => self.clear_conversation().await?,
                rewound => {
                    rewound?;
                    self.session.resume().await?.wait_for_end().await?;
                    let text = to_one_line(text, MAX_TITLE_CHARS);
                    self.add_note(&format!("The conversation goes on before: {text}"));
                }
            }
            self.model.composer.put_back(text);
        }
        Ok(())
    }
}

/// The id and the text of a prompt.
fn prompt_text(message: &Message) -> Option<(&str, &str)> {
    let Message::User(message) = message else { return None };
    if !message.is_replay {
        return None;
    }
    let text = message.message.content.iter().rev().find_map(|block| block.as_text());
    Some((message.uuid.as_str(), text.unwrap_or_default()))
}

/// What bringing back the files would do.
fn describe_files(plan: &FileRewind) -> String {
    let count = count_noun(plan.changed_files().count() as u64, "file");
    let lines = format!("+{} -{} lines", plan.insertions, plan.deletions);
    match plan.conflicts() {
        [] => format!("{count}, {lines}"),
        changed => {
            let names: Vec<String> =
                changed.iter().map(|path| path.display().to_string()).collect();
            format!("{count}, {lines}; overwrites changes by others in {}", names.join(", "))
        }
    }
}
