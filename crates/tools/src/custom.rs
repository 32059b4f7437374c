//! Tools of your own, from a function.

use std::marker::PhantomData;

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use windlass_core::facts::{Facts, Interrupt, Repeat};
use windlass_core::order::Touches;
use windlass_core::outcome::{Outcome, ToolError};
use windlass_core::raw::Raw;
use windlass_core::settings::ToolSpec;
use windlass_runtime::ports::{CallContext, Task, Tool};

use crate::input::{self, invalid, unfit};
use crate::limits::TIMEOUT_MS;
use crate::offer::offer;

/// A tool made of a function that takes `I`. Its schema is that of `I`; derive `Deserialize` with
/// `deny_unknown_fields` so that what does not fit is refused.
///
/// Unless it is said that it only reads, it runs alone. It is never repeated, neither after a transient
/// failure nor after a crash, unless [`Custom::repeat`] or [`Custom::read_only`] declares that a repeat
/// does no harm; its name says nothing about that. A crash in the middle of a call that may not be
/// repeated is put to a human.
///
/// A tool that may be repeated is tried again when its call times out or fails with a transient error:
/// [`ToolError::from_io`] and [`ToolError::from_http_status`] tell which errors are transient.
pub struct Custom<I, F> {
    name: String,
    description: String,
    run: F,
    reads: Reads,
    repeat: Repeat,
    timeout_ms: u64,
    input: PhantomData<fn(I)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reads {
    Only,
    NotOnly,
}

impl<I, F, R> Custom<I, F>
where
    I: DeserializeOwned + JsonSchema + Send + 'static,
    F: Fn(CallContext, I) -> R + Send + Sync + 'static,
    R: Future<Output = Result<String, ToolError>> + Send + 'static,
{
    /// A tool of this name that does what `run` does.
    pub fn new(name: &str, description: &str, run: F) -> Self {
        let repeat = Repeat::OnceOnly;
        let (name, description) = (name.to_owned(), description.to_owned());
        let (reads, timeout_ms, input) = (Reads::NotOnly, TIMEOUT_MS, PhantomData);
        Self { name, description, run, reads, repeat, timeout_ms, input }
    }

    /// The same, as one whose repetition does no harm, or does.
    #[must_use]
    pub fn repeat(mut self, repeat: Repeat) -> Self {
        self.repeat = repeat;
        self
    }

    /// The same with so much time for a call; 120 s if nothing is said. A call that takes longer and
    /// still works says so with `context.heart`.
    #[must_use]
    pub fn timeout_ms(mut self, timeout_ms: u64) -> Self {
        self.timeout_ms = timeout_ms;
        self
    }

    /// The same, as one that changes nothing: it runs beside others and may be repeated.
    #[must_use]
    pub fn read_only(mut self) -> Self {
        (self.reads, self.repeat) = (Reads::Only, Repeat::Repeatable);
        self
    }

    fn facts(&self, input: &Raw) -> Facts {
        let (repeat, timeout_ms) = (self.repeat, self.timeout_ms);
        let reads = Facts { repeat, timeout_ms, ..input::looks(Vec::new(), input.text()) };
        match self.reads {
            Reads::Only => reads,
            Reads::NotOnly => {
                Facts { touches: Touches::Exclusive, interrupt: Interrupt::RunsToEnd, ..reads }
            }
        }
    }
}

fn read<I: DeserializeOwned>(input: &Raw) -> Result<I, ToolError> {
    if !input.is_object() {
        return Err(ToolError::not_an_object());
    }
    input.read().map_err(|error| invalid(&format!("the input does not fit: {error}")))
}

impl<I, F, R> Tool for Custom<I, F>
where
    I: DeserializeOwned + JsonSchema + Send + 'static,
    F: Fn(CallContext, I) -> R + Send + Sync + 'static,
    R: Future<Output = Result<String, ToolError>> + Send + 'static,
{
    fn spec(&self) -> ToolSpec {
        offer::<I>(&self.name, &self.description)
    }

    fn assess(&self, input: &Raw) -> Facts {
        read::<I>(input).map_or_else(unfit, |_| self.facts(input))
    }

    fn run(&self, context: CallContext, input: Raw) -> Task<'_, Outcome> {
        Box::pin(async move {
            let result = match read(&input) {
                Ok(read) => (self.run)(context, read).await,
                Err(problem) => Err(problem),
            };
            result.map_or_else(Outcome::Failed, |text| Outcome::Done(Raw::string(&text)))
        })
    }
}
