//! Children, and being one.

use std::sync::Arc;

use crate::budget::Caps;
use crate::call::{Call, CallState};
use crate::child::{Away, Back, Recalled, Stray};
use crate::conversation::Conversation;
use crate::ids::{CallId, MailId};
use crate::input::Input;
use crate::mail::MailBody;
use crate::run::Run;

use super::talk::mail_body;
use super::{with_call, with_run};

pub(super) fn employed(c: &mut Conversation, input: &Input, mail: MailId) {
    if let Some(MailBody::Task { parent, .. }) = mail_body(input, mail) {
        c.parent = Some(parent.clone());
    }
}

pub(super) fn spawned(c: &mut Conversation, id: CallId, to: u16, granted: Caps) {
    with_call(c, id, |call| {
        let tasks = call.facts.children.len();
        let mut away = match &call.state {
            CallState::Away(away) => away.clone(),
            CallState::BeforeHook
            | CallState::Unjudged
            | CallState::Referred
            | CallState::Questioned(_)
            | CallState::Ready
            | CallState::Running { .. }
            | CallState::Resting { .. }
            | CallState::Lost
            | CallState::AfterHook(_)
            | CallState::Settled(_) => Away::new(tasks, granted),
        };
        away.sent = usize::from(to).min(tasks);
        call.state = CallState::Away(away);
    });
}

/// What it spent counts whenever it comes back, and once.
pub(super) fn back(c: &mut Conversation, input: &Input, mail: MailId) {
    let Some(MailBody::ChildFinished { text, home: Some(home), .. }) = mail_body(input, mail)
    else {
        return;
    };
    c.spent.plus(&home.spent);
    if let Some(place) = c.strays.iter().position(|stray| stray.is(home.call, home.part)) {
        c.strays.remove(place);
        return;
    }
    with_run(c, |run| run.spent.plus(&home.spent));
    with_call(c, home.call, |call| {
        if let CallState::Away(away) = &mut call.state
            && let Some(place) = away.back.get_mut(usize::from(home.part))
        {
            *place = Some(Back { text: Arc::clone(text), ending: home.ending });
        }
    });
}

/// Remembers who is still out when a call is given up.
pub(super) fn given_up(c: &mut Conversation, id: CallId) {
    let call = c.run.as_ref().and_then(Run::round).and_then(|round| round.call(id));
    let Some(away) = call.and_then(Call::away) else { return };
    let granted = away.granted;
    let out: Vec<u16> = away.at_work_parts().collect();
    c.strays.extend(out.into_iter().map(|part| Stray { call: id, part, granted }));
    while c.strays.len() > MOST_STRAYS {
        c.strays.pop_front();
    }
}

/// Children remembered after they were given up.
const MOST_STRAYS: usize = 256;

pub(super) fn recalled(c: &mut Conversation, id: CallId) {
    with_call(c, id, |call| {
        if let CallState::Away(away) = &mut call.state {
            away.recalled = Recalled::Yes;
        }
    });
}
