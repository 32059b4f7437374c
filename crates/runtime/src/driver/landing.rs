//! What flights bring. A reply and the results of the calls that ran ahead of it are one append: if
//! they are not there yet they are waited for a moment, because an append costs more than a look into
//! a file.

use std::sync::Arc;

use windlass_core::block::ToolUse;
use windlass_core::conversation::Conversation;
use windlass_core::ids::CallId;
use windlass_core::input::Input;
use windlass_core::record::Launch;
use windlass_core::run::{EarlyCall, Run};
use windlass_core::wanted::wanted;

use super::held::is_result_of;
use super::step::Draft;
use super::{DriveError, Driver};
use crate::flights::Landed;

/// How long a reply waits for calls that ran ahead of it.
const COMPANY_MS: u64 = 2;

impl Driver {
    /// Results of calls that ran ahead wait until their reply is recorded.
    pub(super) async fn land(&mut self, landed: Vec<Landed>) -> Result<(), DriveError> {
        let mut inputs = self.brought(landed);
        if inputs.iter().any(|input| matches!(input, Input::Replied { .. })) {
            inputs = self.in_company(inputs).await?;
        }
        let ghosts = ghosts(&self.conversation, &inputs);
        ghosts.iter().for_each(|call| self.flights.recall(*call));
        self.held.forget(&ghosts);
        inputs.retain(|input| !is_result_of(input, &ghosts));
        let ready = self.held.sort(&self.conversation, inputs);
        let ready = self.with_spending(ready).await?;
        // A reply and what its early calls brought are one append.
        let mut draft = Draft::of(&self.conversation);
        self.decide(&mut draft, ready)?;
        let released = self.held.release(&draft.conversation);
        self.decide(&mut draft, released.inputs)?;
        self.settle(draft).await?;
        released.too_early.iter().for_each(|call| self.flights.recall(*call));
        Ok(())
    }

    /// What still counts of what landed.
    fn brought(&self, landed: Vec<Landed>) -> Vec<Input> {
        let current = landed.into_iter().filter(|one| self.flights.is_in_the_air(one.flight));
        current.map(|one| *one.input).collect()
    }

    /// Lets the calls start that a reply brought along, and waits a moment for what all of its early
    /// calls bring.
    async fn in_company(&mut self, inputs: Vec<Input>) -> Result<Vec<Input>, DriveError> {
        let (blocks, mut inputs): (Vec<_>, Vec<_>) =
            inputs.into_iter().partition(|input| matches!(input, Input::BlockReady { .. }));
        if !blocks.is_empty() {
            self.step(blocks).await?;
            self.ensure_lease().await?;
            self.flights.reconcile(&self.conversation, &wanted(&self.conversation).effects);
        }
        let mut missing = launched(&self.conversation);
        missing.retain(|call| !self.held.has(*call));
        if missing.is_empty() {
            return Ok(inputs);
        }
        let clock = Arc::clone(&self.ports.clock);
        let mut time_is_up = clock.sleep(COMPANY_MS);
        loop {
            missing.retain(|call| !inputs.iter().any(|input| is_result_of(input, &[*call])));
            if missing.is_empty() {
                return Ok(inputs);
            }
            let landed = tokio::select! {
                biased;
                landed = self.inbox.landed() => landed,
                () = &mut time_is_up => return Ok(inputs),
            };
            inputs.extend(self.brought(landed));
        }
    }
}

/// The calls that were let run ahead of the reply that is waited for.
fn launched(conversation: &Conversation) -> Vec<CallId> {
    let asking = conversation.run.as_ref().and_then(Run::asking);
    let early = asking.map_or([].as_slice(), |asking| &asking.early);
    early.iter().filter(|call| call.launch == Launch::Launched).map(|call| call.id).collect()
}

/// Calls that ran ahead of a reply in which they, or the calls before them, do not stand as they
/// were announced: they were let go for reasons that do not hold.
fn ghosts(conversation: &Conversation, inputs: &[Input]) -> Vec<CallId> {
    let Some(asking) = conversation.run.as_ref().and_then(Run::asking) else { return Vec::new() };
    let reply = inputs.iter().find_map(|input| match input {
        Input::Replied { ask, reply, .. } if *ask == asking.ask => Some(reply),
        _ => None,
    });
    let Some(reply) = reply else { return Vec::new() };
    let announced = |index: u16, call: &ToolUse| {
        asking.early.iter().any(|early| early.id.index == index && early.tool_use == *call)
    };
    let stands = |early: &&EarlyCall| {
        let mut upto = reply.tool_uses().take_while(|(index, _)| *index <= early.id.index);
        let comes = reply.tool_uses().any(|(index, _)| index == early.id.index);
        comes && upto.all(|(index, call)| announced(index, call))
    };
    asking.early.iter().filter(|early| !stands(early)).map(|early| early.id).collect()
}
