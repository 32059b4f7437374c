//! A tool that hands tasks to children, whatever form they come in.

use std::marker::PhantomData;

use schemars::JsonSchema;
use windlass_core::child;
use windlass_core::facts::{AnsweredBy, Facts, Interrupt, Repeat, Verify};
use windlass_core::order::Touches;
use windlass_core::outcome::{Outcome, ToolError};
use windlass_core::raw::Raw;
use windlass_core::settings::ToolSpec;
use windlass_runtime::ports::{CallContext, Task, Tool};

use super::known::Known;
use crate::input::{self, Input, unfit};
use crate::offer::offer;

/// What such a tool takes, and what it is called.
pub(super) trait Hands: Input + JsonSchema {
    const NAME: &'static str;
    const ABOUT: &'static str;

    /// What the children are to do.
    fn tasks(&self, known: &Known) -> Result<Vec<child::Task>, ToolError>;

    /// The same in a few words.
    fn summary(&self) -> String;
}

/// A tool that hands tasks to children.
#[derive(Debug, Clone, Default)]
pub struct Handing<I> {
    known: Known,
    input: PhantomData<fn() -> I>,
}

impl<I> Handing<I> {
    /// The same tool with one more agent that tasks may name.
    #[must_use]
    pub fn with(mut self, name: &str, about: &str) -> Self {
        self.known.add(name, about);
        self
    }
}

#[expect(private_bounds, reason = "what is handed out is for the tools of this folder to say")]
impl<I: Hands> Handing<I> {
    fn read(&self, input: &Raw) -> Result<Facts, ToolError> {
        let input: I = input::read(input)?;
        Ok(facts(input.tasks(&self.known)?, &input.summary()))
    }
}

impl<I: Hands + 'static> Tool for Handing<I> {
    fn needs_workspace(&self) -> bool {
        false
    }

    fn spec(&self) -> ToolSpec {
        let description = self.known.description(I::ABOUT);
        ToolSpec { description, ..offer::<I>(I::NAME, "") }
    }

    fn assess(&self, input: &Raw) -> Facts {
        self.read(input).unwrap_or_else(unfit)
    }

    /// Never brought where the facts are honoured: the answer is the children's.
    fn run(&self, _context: CallContext, _input: Raw) -> Task<'_, Outcome> {
        let nobody_began =
            ToolError::new("no_child", "no child was begun for this call", "do the work yourself");
        Box::pin(std::future::ready(Outcome::Failed(nobody_began)))
    }
}

/// A call that waits for children changes nothing by itself, so it stands in nobody's way.
fn facts(children: Vec<child::Task>, summary: &str) -> Facts {
    Facts {
        touches: Touches::Reads(Vec::new()),
        repeat: Repeat::OnceOnly,
        interrupt: Interrupt::Interruptible,
        verify: Verify::CannotTell,
        answered_by: AnsweredBy::Children,
        summary: Some(input::summary(summary)),
        children,
        ..Facts::default()
    }
}
