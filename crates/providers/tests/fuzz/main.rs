//! The three decoders under fire, for a fixed time: whatever bytes come, nothing panics, any split
//! of the same bytes gives the same reply, and so does the parser where it was not asked.
//!
//! Longer by hand, and a failing run again:
//! `WINDLASS_FUZZ_SECONDS=600 WINDLASS_FUZZ_SEED=7 cargo test -p windlass-providers --test fuzz`.

#[cfg(test)]
mod check;
#[cfg(test)]
mod corpus;
#[cfg(test)]
mod damage;
#[cfg(test)]
mod dice;
#[cfg(test)]
#[path = "../suite/heard.rs"]
mod heard;
#[cfg(test)]
#[path = "../suite/slowly.rs"]
mod slowly;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;

use windlass_providers::names::Format;
use windlass_runtime::SystemClock;
use windlass_runtime::ports::Clock;

use crate::check::{Tally, check};
use crate::corpus::Corpus;
use crate::dice::Dice;

const FORMATS: [Format; 3] =
    [Format::AnthropicMessages, Format::OpenAiChat, Format::OpenAiResponses];

/// Seconds in a usual run of all tests.
const SECONDS: u64 = 10;

fn main() -> ExitCode {
    let clock = SystemClock::start();
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let seconds = number("WINDLASS_FUZZ_SECONDS").unwrap_or(SECONDS);
    let seed = number("WINDLASS_FUZZ_SEED").unwrap_or(clock.now().0);
    let corpus = Corpus::read();
    let mut tally = Tally::default();
    println!("fuzz: three decoders for {seconds} s, seed {seed}");
    while clock.monotonic_ms() < seconds * 1_000 {
        // Every input has a seed of its own, so a failing one can be made again alone.
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

fn one(corpus: &Corpus, seed: u64, tally: &mut Tally) {
    let mut dice = Dice::new(seed);
    let format = *dice.pick(&FORMATS);
    let bytes = damage::input(corpus, format, &mut dice);
    check(format, &bytes, &mut dice, tally);
}
