//! Properties that hold for any input. A failure here becomes a scenario with a name.

mod bytes;
mod histories;
mod judgement;
mod lanes;
mod matter;
mod narrow;
mod steps;

use proptest::test_runner::Config;

/// Returns a configuration with so many cases, and no file of failures: a failure is written down
/// as a scenario. `PROPTEST_CASES` scales them all; 256 is once.
fn cases(cases: u32) -> Config {
    let default = Config::default();
    let cases = u64::from(cases) * u64::from(default.cases) / 256;
    Config { cases: u32::try_from(cases).unwrap_or(u32::MAX), failure_persistence: None, ..default }
}
