use crate::budget::task_budget::TaskBudgetLedger;
use crate::message::reply::TokenUsage;

fn usage(input_tokens: u64, output_tokens: u64) -> TokenUsage {
    TokenUsage { input_tokens, output_tokens, ..TokenUsage::default() }
}

#[test]
fn nothing_is_told_before_the_first_compaction() {
    let mut ledger = TaskBudgetLedger::default();
    ledger.count_reply(&usage(1_000, 50));
    assert_eq!(ledger.remaining(10_000), None);
}

// spec: BUDGETS-08
#[test]
fn what_is_left_is_what_no_generation_used() {
    let mut ledger = TaskBudgetLedger::default();
    // The prompt is not counted; 50 of output, 200 of results, 30 of output, 120 of unseen results.
    ledger.count_reply(&usage(1_000, 50));
    ledger.count_reply(&usage(1_250, 30));
    ledger.end_generation(1_400);
    assert_eq!(ledger.remaining(10_000), Some(10_000 - 400));
    // It stays so while the generation lasts, and continues from there at the next one.
    ledger.count_reply(&usage(300, 100));
    assert_eq!(ledger.remaining(10_000), Some(10_000 - 400));
    ledger.end_generation(400);
    assert_eq!(ledger.remaining(10_000), Some(10_000 - 500));
}

#[test]
fn it_is_never_less_than_nothing() {
    let mut ledger = TaskBudgetLedger::default();
    ledger.count_reply(&usage(u64::MAX, u64::MAX));
    ledger.count_reply(&usage(1, u64::MAX));
    ledger.end_generation(u64::MAX);
    assert_eq!(ledger.remaining(10), Some(0));
}
