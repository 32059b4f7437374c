//! What people see: the answer on standard output, everything about it on standard error.

mod result;

use std::io::{self, Write};
use std::process::ExitCode;

use windlass::core::log::Entry;
use windlass::core::record::Record;
use windlass::{End, Item, RunStream, Session};

use crate::args::OutputFormat;
use crate::words;

/// Follows a run to its end and prints it. Exit code 0 means that there is a result.
pub(crate) async fn watch(
    mut run: RunStream,
    session: &Session,
    format: OutputFormat,
) -> anyhow::Result<ExitCode> {
    let conversation = session.lane().as_str();
    let mut live = Live::default();
    while let Some(item) = run.next().await? {
        if format == OutputFormat::Text {
            live.show(&item)?;
        }
    }
    let end = run.end().await?;
    match format {
        OutputFormat::Text => live.finish(&end, session).await?,
        OutputFormat::Json => line(&result::json(&end, conversation)?),
    }
    Ok(if result::is_success(&end) { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Text that was printed while it came.
#[derive(Default)]
struct Live {
    printed: String,
}

impl Live {
    fn show(&mut self, item: &Item) -> io::Result<()> {
        match item {
            Item::Text { piece, .. } => {
                self.printed.push_str(piece);
                let mut out = io::stdout().lock();
                out.write_all(piece.as_bytes())?;
                out.flush()
            }
            Item::Entry(entry) => self.about(entry),
            Item::Ended(_) | Item::Thinking { .. } => Ok(()),
        }
    }

    /// One line per thing worth knowing, on standard error.
    fn about(&mut self, entry: &Entry) -> io::Result<()> {
        for record in &entry.records {
            if let Some(about) = words::about(entry, record) {
                self.end_line()?;
                writeln!(io::stderr(), "{about}")?;
            }
            if matches!(record, Record::Asked { .. } | Record::ReplyDropped {}) {
                self.end_line()?;
            }
        }
        Ok(())
    }

    /// Text of an iteration ends its line before anything else is said.
    fn end_line(&mut self) -> io::Result<()> {
        if !self.printed.is_empty() {
            writeln!(io::stdout())?;
            self.printed.clear();
        }
        Ok(())
    }

    async fn finish(&mut self, end: &End, session: &Session) -> anyhow::Result<()> {
        if let End::Finished(ended) = end {
            let shown = !self.printed.is_empty() && ended.text.ends_with(self.printed.as_str());
            if !shown && !ended.text.is_empty() {
                write!(io::stdout(), "{}", ended.text)?;
                self.printed = ended.text.to_string();
            }
        }
        self.end_line()?;
        let sentence = match end {
            End::Parked(questions) => {
                Some(words::waiting(questions, &session.conversation().await?, session.lane()))
            }
            End::Finished(_) | End::Refused(_) | End::HandedOver => {
                words::ending(end, session.lane().as_str())
            }
        };
        if let Some(sentence) = sentence {
            writeln!(io::stderr(), "{sentence}")?;
        }
        Ok(())
    }
}

/// One line on standard output. A reader that went away is not an error.
pub(crate) fn line(text: &str) {
    let _ = writeln!(io::stdout(), "{text}");
}

/// One line on standard error. A reader that went away is not an error.
pub(crate) fn note(text: &str) {
    let _ = writeln!(io::stderr(), "{text}");
}

/// One clear sentence on standard error.
pub(crate) fn error(error: &anyhow::Error) {
    let chain: Vec<String> = error.chain().map(ToString::to_string).collect();
    let _ = writeln!(io::stderr(), "windlass: {}", chain.join(": "));
}
