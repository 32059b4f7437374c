//! Events from outside that happen to a world, and when.

use std::fmt;

use super::observation_log::ProcessId;
use super::seeded_rng::SeededRng;

/// An event at a time.
#[derive(Debug, Clone)]
pub(crate) struct TimedEvent {
    pub(crate) at_ms: u64,
    pub(crate) event: WorldEvent,
}

/// An event from outside.
#[derive(Debug, Clone)]
pub(crate) enum WorldEvent {
    Prompt { lane: usize, run: u32, reader: ReaderPace },
    Steer { lane: usize, run: u32, copies: u64 },
    Cancel { lane: usize, run: Option<u32>, copies: u64 },
    Abort { lane: usize, run: Option<u32> },
    StrayAnswer { lane: usize, question: u32 },
    Reader { lane: usize, pace_ms: u64, from_start: bool },
    Kill,
    PowerCut { kept: usize },
    StoreCrash,
    Freeze { ms: u64 },
    CutOff { ms: u64 },
    Thaw { process: ProcessId },
    SecondProcess,
    HandOver,
    Retire { process: ProcessId },
    WallJump { ms: i64 },
    Start,
}

/// How a client reads the stream of a run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum ReaderPace {
    /// As fast as it arrives.
    #[default]
    Eager,
    /// With pauses.
    Slow(u64),
    /// Drops the stream after so many items.
    Drops(u64),
    /// Detaches: the run continues unread.
    Detaches,
}

impl fmt::Display for WorldEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self:?}")
    }
}

/// Latest time of the last event.
const SPAN_MS: u64 = 4_000;

pub(crate) fn draw(rng: &mut SeededRng, lanes: usize) -> Vec<TimedEvent> {
    let mut events = Vec::new();
    let mut add = |rng: &mut SeededRng, event: WorldEvent| {
        let at_ms = rng.below(SPAN_MS);
        events.push(TimedEvent { at_ms, event });
    };
    let prompts = rng.within(1, 5);
    for run in 0..prompts {
        let event = prompt(rng, lanes, u32::try_from(run).unwrap_or(0));
        add(rng, event);
    }
    let spoken = rng.pick(&[0, 0, 1, 2, 4]);
    for extra in 0..spoken {
        let event = spoken_event(rng, lanes, prompts, u32::try_from(extra).unwrap_or(0));
        add(rng, event);
    }
    let readers = rng.within(0, 2);
    for _ in 0..readers {
        let event = reader(rng, lanes);
        add(rng, event);
    }
    let faults = rng.pick(&[0, 1, 1, 2, 2, 3, 5]);
    for _ in 0..faults {
        let event = fault(rng);
        add(rng, event);
    }
    events.sort_by_key(|event| event.at_ms);
    events
}

/// Number of claims that [`draw_forgotten_claims`] lets the store forget.
const FORGOTTEN_CLAIMS: u32 = 8;

/// First number of the runs that [`draw_forgotten_claims`] starts: no other event has them.
const FIRST_CONTENDED_RUN: u32 = 1_000;

/// Adds store crashes, each with two prompts for one lane: two processes claim it at the same time,
/// and the claim of the first is forgotten.
pub(crate) fn draw_forgotten_claims(rng: &mut SeededRng, events: &mut Vec<TimedEvent>) {
    let second = TimedEvent { at_ms: 0, event: WorldEvent::SecondProcess };
    events.push(second);
    for claim in 0..FORGOTTEN_CLAIMS {
        let at_ms = rng.below(SPAN_MS);
        events.push(TimedEvent { at_ms, event: WorldEvent::StoreCrash });
        for run in [2 * claim, 2 * claim + 1] {
            let run = FIRST_CONTENDED_RUN + run;
            let event = WorldEvent::Prompt { lane: 0, run, reader: ReaderPace::Eager };
            events.push(TimedEvent { at_ms: at_ms + 1, event });
        }
    }
    events.sort_by_key(|event| event.at_ms);
}

fn lane(rng: &mut SeededRng, lanes: usize) -> usize {
    usize::try_from(rng.below(lanes as u64)).unwrap_or(0)
}

fn prompt(rng: &mut SeededRng, lanes: usize, run: u32) -> WorldEvent {
    let slow = ReaderPace::Slow(rng.within(5, 120));
    let drops = ReaderPace::Drops(rng.below(12));
    let reader =
        rng.pick(&[ReaderPace::Eager, ReaderPace::Eager, slow, drops, ReaderPace::Detaches]);
    WorldEvent::Prompt { lane: lane(rng, lanes), run, reader }
}

fn spoken_event(rng: &mut SeededRng, lanes: usize, prompts: u64, extra: u32) -> WorldEvent {
    let lane = lane(rng, lanes);
    let run = rng.chance(50).then(|| u32::try_from(rng.below(prompts)).unwrap_or(0));
    let copies = rng.within(1, 2);
    match rng.below(6) {
        0 | 1 => WorldEvent::Steer { lane, run: 100 + extra, copies },
        2 | 3 => WorldEvent::Cancel { lane, run, copies },
        4 => WorldEvent::Abort { lane, run },
        _ => WorldEvent::StrayAnswer { lane, question: u32::try_from(rng.below(4)).unwrap_or(0) },
    }
}

fn reader(rng: &mut SeededRng, lanes: usize) -> WorldEvent {
    let pace_ms = rng.pick(&[0, 0, 20, 700]);
    WorldEvent::Reader { lane: lane(rng, lanes), pace_ms, from_start: rng.chance(70) }
}

fn fault(rng: &mut SeededRng) -> WorldEvent {
    match rng.below(22) {
        0..=5 => WorldEvent::Kill,
        6..=9 => WorldEvent::PowerCut { kept: usize::try_from(rng.below(4)).unwrap_or(0) },
        10..=12 => WorldEvent::Freeze { ms: rng.within(100, 4_000) },
        13..=15 => WorldEvent::CutOff { ms: rng.within(100, 4_000) },
        16 => WorldEvent::SecondProcess,
        17 => WorldEvent::HandOver,
        20..=21 => WorldEvent::StoreCrash,
        _ => WorldEvent::WallJump { ms: rng.pick(&[-3_600_000, -2_000, 1_000, 3_600_000]) },
    }
}
