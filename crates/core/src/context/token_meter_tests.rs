use super::token_meter::{TokenMeter, UsableWindow, WindowPressure, WindowThresholds};
use crate::message::reply::TokenUsage;

fn usage(input_tokens: u64, cache_read_tokens: u64) -> TokenUsage {
    TokenUsage { input_tokens, cache_read_tokens, ..TokenUsage::default() }
}

#[test]
fn a_cold_meter_takes_four_bytes_for_a_token() {
    assert_eq!(TokenMeter::default().estimate(4_000), 1_000);
    assert_eq!(TokenMeter::default().estimate(0), 0);
}

#[test]
fn the_last_real_count_is_the_anchor_and_what_came_since_is_estimated() {
    let mut meter = TokenMeter::default();
    meter.learn(10_000, &usage(1_000, 4_000));
    assert_eq!(meter.estimate(10_000), 5_000);
    assert_eq!(meter.estimate(12_000), 6_000);
    assert_eq!(meter.estimate(6_000), 3_000);
    assert_eq!(meter.estimate(0), 0);
    // A later reply corrects the ratio.
    meter.learn(20_000, &usage(5_000, 0));
    assert_eq!(meter.estimate(24_000), 6_000);
}

#[test]
fn counts_that_cannot_be_are_not_believed() {
    let mut meter = TokenMeter::default();
    meter.learn(10_000, &usage(5_000, 0));
    let sane = meter;
    meter.learn(100, &usage(u64::MAX, u64::MAX));
    meter.learn(100, &usage(0, 0));
    meter.learn(0, &usage(5, 0));
    assert_eq!(meter, sane);
    assert_eq!(TokenMeter::default().estimate(u64::MAX), u64::MAX / 1_000);
}

#[test]
fn shares_are_of_what_is_usable() {
    let usable = UsableWindow::new(200_000, 16_000);
    // 200,000 less 16,000 for the reply and 4,000 for mistakes.
    assert_eq!(usable.percent(90_000), 50);
    let at = |tokens| usable.pressure(tokens, &WindowThresholds::default());
    assert_eq!(at(126_000), WindowPressure::Fine);
    assert_eq!(at(128_000), WindowPressure::Tight);
    assert_eq!(at(176_400), WindowPressure::Tight);
    assert_eq!(at(178_300), WindowPressure::Full);
    // However much output is asked for, half of the window is left.
    assert_eq!(UsableWindow::new(1_000, u64::MAX).percent(240), 50);
    assert_eq!(UsableWindow::new(0, 0).percent(0), u64::MAX);
}

#[test]
fn shares_that_contradict_each_other_are_refused() {
    assert!(WindowThresholds::default().validate().is_ok());
    let with = |compact, gain, block| WindowThresholds { compact, gain, block }.validate();
    assert!(with(98, 50, 98).is_err() && with(99, 50, 98).is_err());
    assert!(with(70, 80, 98).is_err() && with(70, 50, 101).is_err());
    let output = with(98, 50, 70).unwrap_err().to_string();
    assert!(output.contains("compact (98 %) < block (70 %)"), "{output}");
}

// spec: WINDOW-23
#[test]
fn the_ratio_is_that_of_whoever_counted_last() {
    let mut meter = TokenMeter::default();
    assert_eq!(meter.estimate(4_000), 1_000, "four bytes before anything is known");
    let usage = |input_tokens| TokenUsage { input_tokens, ..TokenUsage::default() };
    meter.learn(4_000, &usage(2_000));
    assert_eq!(meter.estimate(6_000), 2_000 + 1_000);
    // Another model counts differently: its count is used, not a mean of both.
    meter.learn(6_000, &usage(600));
    assert_eq!(meter.estimate(8_000), 600 + 200);
}
