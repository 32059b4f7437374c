use std::sync::Arc;

use windlass::core::log::ids::{RunId, UnixMillis};
use windlass::ports::RunTraceEnd;
use windlass::stats::{RunStats, count_runs};

use super::{HistogramBar, histogram_bars};

fn of_ends(ends: &[RunTraceEnd]) -> RunStats {
    count_runs(ends, &[], &[])
}

fn ends(rows: &[(&str, u32, usize)]) -> Vec<RunTraceEnd> {
    let row = |(reason, iter, times): &(&str, u32, usize)| {
        let end = RunTraceEnd {
            run: RunId::from("r"),
            iterations: *iter,
            cause: Arc::from(*reason),
            at: UnixMillis(1),
            agent: None,
            profile: None,
            model: None,
            input_tokens: 0,
            cached_tokens: 0,
            output_tokens: 0,
        };
        std::iter::repeat_n(end, *times).collect::<Vec<_>>()
    };
    rows.iter().flat_map(row).collect()
}

#[test]
fn the_target_is_fewer_than_three_in_a_thousand() {
    let within = |unexpected, others| {
        of_ends(&ends(&[("unexpected", 1, unexpected), ("end_turn", 1, others)]))
            .unexpected_within_target
    };
    assert!(within(0, 0));
    assert!(within(0, 5));
    assert!(!within(1, 9));
    assert!(!within(3, 997));
    assert!(within(2, 998));
}

#[test]
fn only_answers_are_in_the_histogram_and_gaps_are_kept() {
    let stats = of_ends(&ends(&[
        ("end_turn", 1, 6),
        ("end_turn", 4, 1),
        ("max_iters", 50, 1),
        ("max_model_calls", 9, 1),
    ]));
    assert_eq!((stats.runs, stats.stopped_at_cap), (9, 2));
    let runs: Vec<usize> = histogram_bars(&stats).iter().map(|bar| bar.runs).collect();
    assert_eq!(runs, [6, 0, 0, 1]);
    assert_eq!((stats.iterations_quantile(50), stats.iterations_quantile(95)), (1, 4));
}

#[test]
fn long_runs_share_bars() {
    let stats = of_ends(&ends(&[("end_turn", 1, 1), ("end_turn", 45, 1), ("end_turn", 50, 1)]));
    let bars = histogram_bars(&stats);
    assert_eq!(bars.first(), Some(&HistogramBar { from: 1, upto: 3, runs: 1 }));
    assert_eq!(bars.last(), Some(&HistogramBar { from: 49, upto: 51, runs: 1 }));
    assert_eq!(bars.iter().map(|bar| bar.runs).sum::<usize>(), 3);
}
