//! Fuzzes the three decoders for a fixed time: no bytes cause a panic, any split of the same bytes
//! gives the same reply, and the parser agrees with the fast path.
//!
//! Longer by hand, and a failing run again:
//! `WINDLASS_FUZZ_SECONDS=600 WINDLASS_FUZZ_SEED=7 cargo test -p windlass-providers --test fuzz`.

#[cfg(test)]
mod check;
#[cfg(test)]
mod corpus;
#[cfg(test)]
#[path = "../suite/event_message.rs"]
mod event_message;
#[cfg(test)]
mod mutate;
#[cfg(test)]
#[path = "../suite/parser_only.rs"]
mod parser_only;
#[cfg(test)]
mod random;
#[cfg(test)]
#[path = "../suite/recording_stream.rs"]
mod recording_stream;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;

use windlass_providers::catalog::provider_table::WireFormat;
use windlass_runtime::SystemClock;
use windlass_runtime::ports::Clock;

use crate::check::{FuzzTally, check};
use crate::corpus::FuzzCorpus;
use crate::random::SeededRandom;

const FORMATS: [WireFormat; 3] =
    [WireFormat::AnthropicMessages, WireFormat::OpenAiChat, WireFormat::OpenAiResponses];

/// The number of seconds in a usual run of all tests.
const SECONDS: u64 = 10;

fn main() -> ExitCode {
    let clock = SystemClock::start();
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let seconds = number("WINDLASS_FUZZ_SECONDS").unwrap_or(SECONDS);
    let seed = number("WINDLASS_FUZZ_SEED").unwrap_or(clock.now().0);
    let corpus = FuzzCorpus::read();
    let mut tally = FuzzTally::default();
    println!("fuzz: three decoders for {seconds} s, seed {seed}");
    while clock.monotonic_ms() < seconds * 1_000 {
        // Every input has a seed of its own, so that a failing one can be reproduced alone.
        let input = seed.wrapping_add(tally.inputs);
        let one = || one(&corpus, input, &mut tally);
        if catch_unwind(AssertUnwindSafe(one)).is_err() {
            println!("fuzz: FAILED; once more with WINDLASS_FUZZ_SEED={input}");
            return ExitCode::FAILURE;
        }
    }
    let took_ms = clock.monotonic_ms().max(1);
    println!(
        "fuzz: {} inputs, {:.1} MB, {} replies, {} failures, {} inputs/s",
        tally.inputs,
        tally.bytes as f64 / 1e6,
        tally.replies,
        tally.failures,
        tally.inputs * 1_000 / took_ms,
    );
    ExitCode::SUCCESS
}

fn one(corpus: &FuzzCorpus, seed: u64, tally: &mut FuzzTally) {
    let mut dice = SeededRandom::new(seed);
    let format = *dice.pick(&FORMATS);
    let bytes = mutate::input(corpus, format, &mut dice);
    check(format, &bytes, &mut dice, tally);
}
