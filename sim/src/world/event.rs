//! Events from outside that happen to a world, and when.

use std::fmt;

use super::dice::SeededRng;
use super::observation_log::ProcessId;

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

pub(crate) fn draw(dice: &mut SeededRng, lanes: usize) -> Vec<TimedEvent> {
    let mut events = Vec::new();
    let mut add = |dice: &mut SeededRng, event: WorldEvent| {
        let at_ms = dice.below(SPAN_MS);
        events.push(TimedEvent { at_ms, event });
    };
    let prompts = dice.within(1, 5);
    for run in 0..prompts {
        let event = prompt(dice, lanes, u32::try_from(run).unwrap_or(0));
        add(dice, event);
    }
    let spoken = dice.pick(&[0, 0, 1, 2, 4]);
    for extra in 0..spoken {
        let event = spoken_event(dice, lanes, prompts, u32::try_from(extra).unwrap_or(0));
        add(dice, event);
    }
    let readers = dice.within(0, 2);
    for _ in 0..readers {
        let event = reader(dice, lanes);
        add(dice, event);
    }
    let faults = dice.pick(&[0, 1, 1, 2, 2, 3, 5]);
    for _ in 0..faults {
        let event = fault(dice);
        add(dice, event);
    }
    events.sort_by_key(|event| event.at_ms);
    events
}

fn lane(dice: &mut SeededRng, lanes: usize) -> usize {
    usize::try_from(dice.below(lanes as u64)).unwrap_or(0)
}

fn prompt(dice: &mut SeededRng, lanes: usize, run: u32) -> WorldEvent {
    let slow = ReaderPace::Slow(dice.within(5, 120));
    let drops = ReaderPace::Drops(dice.below(12));
    let reader =
        dice.pick(&[ReaderPace::Eager, ReaderPace::Eager, slow, drops, ReaderPace::Detaches]);
    WorldEvent::Prompt { lane: lane(dice, lanes), run, reader }
}

fn spoken_event(dice: &mut SeededRng, lanes: usize, prompts: u64, extra: u32) -> WorldEvent {
    let lane = lane(dice, lanes);
    let run = dice.chance(50).then(|| u32::try_from(dice.below(prompts)).unwrap_or(0));
    let copies = dice.within(1, 2);
    match dice.below(6) {
        0 | 1 => WorldEvent::Steer { lane, run: 100 + extra, copies },
        2 | 3 => WorldEvent::Cancel { lane, run, copies },
        4 => WorldEvent::Abort { lane, run },
        _ => WorldEvent::StrayAnswer { lane, question: u32::try_from(dice.below(4)).unwrap_or(0) },
    }
}

fn reader(dice: &mut SeededRng, lanes: usize) -> WorldEvent {
    let pace_ms = dice.pick(&[0, 0, 20, 700]);
    WorldEvent::Reader { lane: lane(dice, lanes), pace_ms, from_start: dice.chance(70) }
}

fn fault(dice: &mut SeededRng) -> WorldEvent {
    match dice.below(22) {
        0..=5 => WorldEvent::Kill,
        6..=9 => WorldEvent::PowerCut { kept: usize::try_from(dice.below(4)).unwrap_or(0) },
        10..=12 => WorldEvent::Freeze { ms: dice.within(100, 4_000) },
        13..=15 => WorldEvent::CutOff { ms: dice.within(100, 4_000) },
        16 => WorldEvent::SecondProcess,
        17 => WorldEvent::HandOver,
        20..=21 => WorldEvent::StoreCrash,
        _ => WorldEvent::WallJump { ms: dice.pick(&[-3_600_000, -2_000, 1_000, 3_600_000]) },
    }
}
