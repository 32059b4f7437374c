//! The program's own log on standard error or in a file: `--log LEVEL`, `--debug` or `RUST_LOG`
//! enable it, `--log-format json` writes one object per line. Nothing is installed unless it is
//! enabled.

use std::fmt::{Debug, Write as _};
use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use serde_json::{Map, Value, json};
use tracing::field::{Field, Visit};
use tracing::{Event, Subscriber};
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::layer::{Context, Layer, SubscriberExt};
use windlass::SystemClock;
use windlass::ports::Clock;

use crate::args::{LogFormat, OutputArgs};
use crate::exit::UsageError;
use crate::terminal::time_format::format_iso;
use crate::terminal::{ColorSupport, sanitize_output};

/// Parses a typed log filter: a level, or levels of targets.
pub(crate) fn parse_filter(text: &str) -> Result<Targets, String> {
    let problem = || {
        format!(
            "`{text}` is not a log level; use error, warn, info, debug, trace or off, or targets such as windlass=debug"
        )
    };
    // A word that is not a level would be taken for the name of a target, and nothing would be
    // logged.
    let is_target = |part: &str| {
        part.is_empty()
            || part.contains(['=', ':', '_', '.'])
            || part.starts_with("windlass")
            || part.parse::<LevelFilter>().is_ok()
    };
    match text.split(',').map(str::trim).all(is_target) {
        true => text.parse::<Targets>().map_err(|_| problem()),
        false => Err(problem()),
    }
}

/// Installs the log, if it is enabled.
pub(crate) fn install(output: &OutputArgs) -> anyhow::Result<()> {
    let is_debugged = output.debug.is_some() || output.debug_file.is_some();
    let filter = match (&output.log, std::env::var("RUST_LOG")) {
        (Some(filter), _) => Some(filter.clone()),
        (None, _) if is_debugged => {
            Some(Targets::new().with_target("windlass", LevelFilter::DEBUG))
        }
        (None, Ok(text)) if !text.is_empty() => {
            let named = |reason| UsageError::wrap(anyhow::anyhow!("RUST_LOG: {reason}"));
            Some(parse_filter(&text).map_err(named)?)
        }
        (None, _) => None,
    };
    let traces = traces_target();
    if filter.is_none() && traces.is_none() {
        return Ok(());
    }
    let file = output.debug_file.as_deref().map(open_log_file).transpose()?;
    let log = filter.map(|filter| {
        let writer = LogWriter { format: output.log_format, clock: SystemClock::start(), file };
        writer.with_filter(filter)
    });
    let subscriber = tracing_subscriber::registry().with(log);
    // A second call finds the subscriber installed.
    #[cfg(feature = "otel")]
    let _ = tracing::subscriber::set_global_default(subscriber.with(traces));
    #[cfg(not(feature = "otel"))]
    let _ = tracing::subscriber::set_global_default(subscriber);
    Ok(())
}

/// What notices ended runs, if traces are sent.
#[cfg(feature = "otel")]
fn traces_target<S>() -> Option<impl Layer<S>>
where
    S: Subscriber + for<'span> tracing_subscriber::registry::LookupSpan<'span>,
{
    let filter = Targets::new().with_target("windlass", LevelFilter::INFO);
    crate::trace_export::layer().map(|layer| layer.with_filter(filter))
}

/// Nothing: this program sends no traces.
#[cfg(not(feature = "otel"))]
fn traces_target() -> Option<()> {
    None
}

/// Opens the file of `--debug-file`, which only its user can read: the log has paths and commands.
fn open_log_file(path: &Path) -> anyhow::Result<File> {
    let opened = OpenOptions::new().create(true).append(true).mode(0o600).open(path);
    opened.map_err(|error| {
        let path = path.display();
        UsageError::wrap(anyhow::anyhow!(
            "cannot write the log to {path} ({error}); give another file with --debug-file"
        ))
    })
}

/// Writes events to standard error, or to a file.
struct LogWriter {
    format: LogFormat,
    clock: SystemClock,
    file: Option<File>,
}

impl<S: Subscriber> Layer<S> for LogWriter {
    fn on_event(&self, event: &Event<'_>, _context: Context<'_, S>) {
        let mut fields = EventFields::default();
        event.record(&mut fields);
        let (at, about) = (format_iso(self.clock.now()), event.metadata());
        let line = match self.format {
            LogFormat::Json => {
                let mut line = fields.0;
                line.insert("time".to_owned(), json!(at));
                line.insert("level".to_owned(), json!(about.level().as_str()));
                line.insert("target".to_owned(), json!(about.target()));
                Value::Object(line).to_string()
            }
            LogFormat::Text => {
                let mut line = format!("{at} {:<5} {}", about.level().as_str(), about.target());
                for (name, value) in &fields.0 {
                    let _ = match value {
                        Value::String(text) => write!(line, " {name}={text}"),
                        other => write!(line, " {name}={other}"),
                    };
                }
                line.replace('\n', "\\n")
            }
        };
        let line = sanitize_output(&line, ColorSupport::Disabled) + "\n";
        // One call writes a whole line: processes that share a file do not mix theirs.
        let _ = match &self.file {
            Some(file) => (&*file).write_all(line.as_bytes()),
            None => io::stderr().write_all(line.as_bytes()),
        };
    }
}

/// The fields of an event.
#[derive(Default)]
struct EventFields(Map<String, Value>);

impl EventFields {
    fn insert(&mut self, field: &Field, value: Value) {
        // Empty fields are left out.
        if value != json!("") {
            self.0.insert(field.name().to_owned(), value);
        }
    }
}

impl Visit for EventFields {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.insert(field, json!(format!("{value:?}")));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        // Fields that are JSON already are embedded as JSON.
        let nested = value.starts_with('{').then(|| serde_json::from_str(value).ok()).flatten();
        self.insert(field, nested.unwrap_or_else(|| json!(value)));
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.insert(field, json!(value));
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.insert(field, json!(value));
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.insert(field, json!(value));
    }
}
