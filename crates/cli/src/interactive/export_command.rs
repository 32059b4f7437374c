//! `/export`: the conversation as a Markdown or JSON file.

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use serde_json::Value;
use windlass::messages::{ContentBlock, Message};

use super::opening;
use super::session_loop::SessionLoop;

impl SessionLoop {
    /// Writes the conversation to a file that does not exist yet.
    pub(super) async fn export_conversation(&mut self, name: &str) -> anyhow::Result<()> {
        if !self.has_begun {
            bail!("there is nothing to export yet");
        }
        let log = self.session.read_log().await?;
        let history = opening::read_messages(self.session.lane(), &log, &self.setup)?;
        let file = self.export_file(name);
        let is_json = file.extension().is_some_and(|extension| extension == "json");
        let text = match is_json {
            true => serde_json::to_string_pretty(&history.messages)?,
            false => to_markdown(&history.messages),
        };
        let opened = std::fs::File::create_new(&file);
        let mut opened = opened
            .with_context(|| format!("cannot write {}; name another file", file.display()))?;
        opened.write_all(text.as_bytes())?;
        self.add_note(&format!("The conversation is in {}", file.display()));
        Ok(())
    }

    /// The named file, or one that is named after the conversation.
    fn export_file(&self, name: &str) -> PathBuf {
        let id = self.session.lane().session_id();
        let name = match name {
            "" => format!("conversation-{id}.md"),
            "json" => format!("conversation-{id}.json"),
            name => name.to_owned(),
        };
        let name = name.replace(':', "-");
        match Path::new(&name).is_absolute() {
            true => PathBuf::from(name),
            false => self.setup.workspace.join(name),
        }
    }
}

/// The conversation as people read it: prompts, answers, calls with their results.
fn to_markdown(messages: &[Message]) -> String {
    let mut out = String::new();
    for message in messages {
        match message {
            Message::User(message) if message.is_replay => {
                let text = message.message.content.iter().rev().find_map(ContentBlock::as_text);
                add_section(&mut out, "Prompt", text.unwrap_or_default());
            }
            Message::User(message) if message.parent_tool_use_id.is_none() => {
                for block in &message.message.content {
                    if let ContentBlock::ToolResult(result) = block {
                        let title = if result.is_error { "Failed" } else { "Result" };
                        out.push_str(&format!("{title}:\n\n{}\n\n", fenced(&result.content)));
                    }
                }
            }
            Message::Assistant(message) if message.parent_tool_use_id.is_none() => {
                for block in &message.message.content {
                    add_reply_block(&mut out, block);
                }
            }
            _ => {}
        }
    }
    out
}

fn add_reply_block(out: &mut String, block: &ContentBlock) {
    match block {
        ContentBlock::Text(text) => add_section(out, "Answer", &text.text),
        ContentBlock::ToolUse(call) => {
            let input = serde_json::to_string_pretty(&call.input).unwrap_or_default();
            let input = fenced(&Value::String(input));
            out.push_str(&format!("### {}\n\n{input}\n\n", call.name));
        }
        ContentBlock::Thinking(_) | ContentBlock::ToolResult(_) | ContentBlock::Other(_) => {}
    }
}

fn add_section(out: &mut String, title: &str, text: &str) {
    if !text.trim().is_empty() {
        out.push_str(&format!("## {title}\n\n{}\n\n", text.trim()));
    }
}

/// A text between fences that it does not contain.
fn fenced(content: &Value) -> String {
    let text_of = |block: &Value| block.get("text").and_then(Value::as_str).map(str::to_owned);
    let text = match content {
        Value::String(text) => text.clone(),
        Value::Array(blocks) => blocks.iter().filter_map(text_of).collect::<Vec<_>>().join("\n"),
        other => other.to_string(),
    };
    let mut fence = "```".to_owned();
    while text.contains(&fence) {
        fence.push('`');
    }
    format!("{fence}\n{}\n{fence}", text.trim_end())
}
