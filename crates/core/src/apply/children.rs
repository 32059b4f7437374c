//! Children, and being one.

use std::sync::Arc;

use crate::budget::Caps;
use crate::call::{Call, CallState};
use crate::child::{Away, Recalled};
use crate::conversation::Conversation;
use crate::ids::{CallId, MailId};
use crate::input::Input;
use crate::mail::MailBody;

use super::talk::mail_body;
use super::{set, with_call, with_run};

pub(super) fn employed(c: &mut Conversation, input: &Input, mail: MailId) {
    if let Some(MailBody::Task { parent, .. }) = mail_body(input, mail) {
        c.parent = Some(parent.clone());
    }
}

pub(super) fn spawned(c: &mut Conversation, id: CallId, granted: Caps) {
    let call = c.run.as_ref().and_then(|run| run.round()).and_then(|round| round.call(id));
    let Some(tasks) = call.map(|call| call.facts.children.len()) else { return };
    set(c, id, CallState::Away(Away::new(tasks, granted)));
}

pub(super) fn back(c: &mut Conversation, input: &Input, mail: MailId) {
    let Some(MailBody::ChildFinished { text, home: Some(home), .. }) = mail_body(input, mail)
    else {
        return;
    };
    c.spent.plus(&home.spent);
    with_run(c, |run| run.spent.plus(&home.spent));
    with_call(c, home.call, |call| {
        if let CallState::Away(away) = &mut call.state
            && let Some(place) = away.back.get_mut(usize::from(home.part))
        {
            *place = Some(Arc::clone(text));
        }
    });
}

/// Children whom nobody waits for any more may spend all that they were lent, so it counts as spent.
pub(super) fn given_up(c: &mut Conversation, id: CallId) {
    let call = c.run.as_ref().and_then(|run| run.round()).and_then(|round| round.call(id));
    let Some(away) = call.and_then(Call::away) else { return };
    let (granted, at_work) = (away.granted.as_spent(), away.at_work());
    for _ in 0..at_work {
        c.spent.plus(&granted);
        with_run(c, |run| run.spent.plus(&granted));
    }
}

pub(super) fn recalled(c: &mut Conversation, id: CallId) {
    with_call(c, id, |call| {
        if let CallState::Away(away) = &mut call.state {
            away.recalled = Recalled::Yes;
        }
    });
}
