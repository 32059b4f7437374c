//! Planted bugs in the effects that are wanted in flight.

use windlass_core::Conversation;
use windlass_core::call::call_state::{Call, CallState};
use windlass_core::log::record::StopMode;
use windlass_core::run::active_run::Run;
use windlass_core::run::wanted::{Effect, Wanted};

use super::{Mutant, wants};

pub(super) const MUTANTS: &[Mutant] = &[
    wants("forget the time to wake", forget_wake, &["faults"]),
    wants("keep the model asked after an abort", keep_asking, &["once-only"]),
    wants("run calls that wait for others", run_waiting, &["conflicts"]),
    wants("run calls of a halted run", run_halted, &["drift"]),
    wants("forget to ask the model", forget_model, &["answers"]),
    wants("forget to probe", forget_probe, &["verify"]),
    wants("forget a hook", forget_hook, &["hooks"]),
    wants("run the last attempt again", last_attempt, &["reads"]),
];

fn forget_wake(_: &Conversation, wanted: Wanted) -> Wanted {
    Wanted { wake_at: None, ..wanted }
}

fn keep_asking(c: &Conversation, mut wanted: Wanted) -> Wanted {
    let stop = c.run.as_ref().and_then(|run| run.stop_request);
    if stop.is_some_and(|stop| stop.mode == StopMode::Abort) {
        wanted.effects.push(Effect::CallModel(c.model_call_count));
    }
    wanted
}

fn ready(c: &Conversation) -> impl Iterator<Item = &Call> {
    let calls = c.run.as_ref().and_then(Run::round).into_iter().flat_map(|round| &round.calls);
    calls.filter(|call| call.state == CallState::Ready)
}

fn with_ready(c: &Conversation, mut wanted: Wanted) -> Wanted {
    let flights = ready(c).map(|call| Effect::RunTool { call: call.id, attempt: call.attempts });
    wanted.effects.extend(flights);
    wanted
}

fn run_waiting(c: &Conversation, wanted: Wanted) -> Wanted {
    with_ready(c, wanted)
}

fn run_halted(c: &Conversation, wanted: Wanted) -> Wanted {
    let halted = c.run.as_ref().and_then(Run::human_pause).is_some();
    if halted { with_ready(c, wanted) } else { wanted }
}

fn drop(wanted: Wanted, unwanted: impl Fn(&Effect) -> bool) -> Wanted {
    let effects = wanted.effects.into_iter().filter(|effect| !unwanted(effect)).collect();
    Wanted { effects, ..wanted }
}

fn forget_model(_: &Conversation, wanted: Wanted) -> Wanted {
    drop(wanted, |effect| matches!(effect, Effect::CallModel(_)))
}

fn forget_probe(_: &Conversation, wanted: Wanted) -> Wanted {
    drop(wanted, |effect| matches!(effect, Effect::ProbeCall(_)))
}

fn forget_hook(_: &Conversation, wanted: Wanted) -> Wanted {
    drop(wanted, |effect| matches!(effect, Effect::RunPostHook(_)))
}

fn last_attempt(c: &Conversation, mut wanted: Wanted) -> Wanted {
    let calls = c.run.as_ref().and_then(Run::round).into_iter().flat_map(|round| &round.calls);
    let done = calls.filter(|call| call.is_finished() && call.attempts > 0);
    let again = done.map(|call| Effect::RunTool { call: call.id, attempt: call.attempts });
    wanted.effects.extend(again);
    wanted
}
