use crate::reply::Usage;
use crate::task::TaskLedger;

fn usage(input_tokens: u64, output_tokens: u64) -> Usage {
    Usage { input_tokens, output_tokens, ..Usage::default() }
}

#[test]
fn nothing_is_told_before_the_first_compaction() {
    let mut ledger = TaskLedger::default();
    ledger.replied(&usage(1_000, 50));
    assert_eq!(ledger.left(10_000), None);
}

// spec: BUDGETS-08
#[test]
fn what_is_left_is_what_no_generation_used() {
    let mut ledger = TaskLedger::default();
    // The prompt is not counted; 50 of output, 200 of results, 30 of output, 120 of unseen results.
    ledger.replied(&usage(1_000, 50));
    ledger.replied(&usage(1_250, 30));
    ledger.generation_over(1_400);
    assert_eq!(ledger.left(10_000), Some(10_000 - 400));
    // It stays so while the generation lasts, and goes on where it was at the next one.
    ledger.replied(&usage(300, 100));
    assert_eq!(ledger.left(10_000), Some(10_000 - 400));
    ledger.generation_over(400);
    assert_eq!(ledger.left(10_000), Some(10_000 - 500));
}

#[test]
fn it_is_never_less_than_nothing() {
    let mut ledger = TaskLedger::default();
    ledger.replied(&usage(u64::MAX, u64::MAX));
    ledger.replied(&usage(1, u64::MAX));
    ledger.generation_over(u64::MAX);
    assert_eq!(ledger.left(10), Some(0));
}
