//! The context: which stage or rung made room and what that freed, and what failed to help.

use windlass::StopCause;
use windlass::core::conversation::Conversation;
use windlass::core::record::Record;
use windlass::core::window::{Thresholds, Usable};

use super::words;
use super::{Past, Sentence};
use crate::look::room::{fullness, why_stuck};
use crate::look::story::Moment;

/// Listens to what is said about room.
pub(super) fn hear(said: &mut Vec<Sentence>, moment: Moment<'_>) {
    let text = match moment.record {
        Record::CompactionAsked { .. } => Some(words::ROOM_ASKED.to_owned()),
        Record::Pruned { stage, rewrites } => {
            Some(words::pruned(*stage, rewrites.len(), &freed(moment)))
        }
        Record::Compacted { rung, attached, .. } => {
            Some(words::compacted(*rung, attached.len(), &freed(moment)))
        }
        Record::Climbed { rung } => Some(words::climbed(*rung)),
        _ => None,
    };
    Sentence::add(said, text, moment.entry.seq);
}

/// Tokens before and after, and whether that is enough.
pub(super) struct Freed {
    pub(super) before: u64,
    pub(super) after: u64,
    pub(super) percent_after: u64,
    pub(super) wanted: u64,
}

fn freed(moment: Moment<'_>) -> Freed {
    let tokens = |c: &Conversation| c.meter.estimate(c.request_bytes());
    let settings = moment.now.settings_in_use();
    let after = tokens(moment.now);
    let share = |usable: Usable| usable.percent(after);
    let usable = settings
        .as_ref()
        .map(|settings| Usable::of(settings.model.window_tokens, settings.model.max_tokens));
    let thresholds =
        settings.as_ref().map_or_else(Thresholds::default, |settings| settings.window.thresholds);
    Freed {
        before: tokens(moment.before),
        after,
        percent_after: usable.map_or(0, share),
        wanted: thresholds.gain,
    }
}

/// How full the window is, and why nothing helped if it is too full.
pub(super) fn with_state(mut said: Vec<Sentence>, past: &Past<'_>) -> Vec<Sentence> {
    let blocked = past.ended().is_some_and(|ended| {
        ended.cause == StopCause::BlockingLimit || ended.also.contains(&StopCause::BlockingLimit)
    });
    if blocked {
        let entry = past.ended_in.unwrap_or(past.last);
        let why = why_stuck(&past.before).into_iter();
        said.extend(why.map(|text| Sentence::new(text, entry)));
    } else {
        said.extend(fullness(&past.at_end).map(Sentence::plain));
    }
    let used = past.before.run.as_ref().filter(|run| run.id == *past.run);
    if let (Some(run), Some(settings)) = (used, past.at_end.settings.as_ref())
        && run.recoveries.total > 0
    {
        let most = settings.limits.recoveries;
        said.push(Sentence::plain(words::recoveries(run.recoveries.total, most)));
    }
    said
}
