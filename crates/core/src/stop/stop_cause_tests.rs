use super::{ResultSubtype, RunState, StopCause, TextPresence};

/// The name of a value as serde writes it.
fn name<T: serde::Serialize>(value: T) -> String {
    serde_json::to_string(&value).unwrap().trim_matches('"').to_owned()
}

// spec: STOP-22
#[test]
fn the_table_is_that_of_the_requirements() {
    use StopCause as C;
    // A dash stands for the cause's own name in snake case.
    let rows = [
        (C::EndTurn, "end_turn", "end_turn", "success", "completed", ""),
        (C::StopSequence, "-", "-", "success", "completed", ""),
        (C::Refusal, "-", "-", "success", "completed", ""),
        (C::Unexpected, "-", "-", "success", "completed", ""),
        (C::MaxToolRounds, "-", "max_turns", "error_max_turns", "failed", "resumable"),
        (C::MaxModelCalls, "max_iters", "max_turns", "error_max_turns", "failed", "resumable"),
        (C::BudgetUsd, "budget", "-", "error_max_budget_usd", "failed", "resumable"),
        (C::BudgetTokens, "budget", "-", "error_during_execution", "failed", "resumable"),
        (C::ToolFatal, "-", "-", "error_during_execution", "failed", ""),
        (C::UserCancel, "user_cancel", "aborted", "error_during_execution", "cancelled", ""),
        (C::BlockingLimit, "-", "blocking_limit", "error_during_execution", "failed", "resumable"),
        (C::TruncationExhausted, "-", "-", "error_during_execution", "failed", ""),
        (C::StructuredOutputRetries, "-", "-", "error_max_structured_output_retries", "failed", ""),
        (C::SoftTime, "-", "-", "success", "completed", ""),
        (C::HardTime, "-", "-", "error_during_execution", "timed_out", ""),
        (C::ProviderFailed, "-", "-", "error_during_execution", "failed", "resumable"),
        // Parked, not terminal: a client that waits for a result sees what the run waits for.
        (
            C::ResumeUnsafe,
            "-",
            "waiting_on_human",
            "error_during_execution",
            "waiting_on_human",
            "resumable",
        ),
        (C::MaxModelReplies, "max_iters", "max_turns", "error_max_turns", "failed", "resumable"),
        (C::ToolDeferred, "-", "-", "success", "completed", "resumable"),
        // Not in the requirements: they know hooks, and no name for a run that one ended.
        (C::HookStopped, "-", "-", "error_during_execution", "failed", "resumable"),
        (C::PriceUnknown, "-", "-", "error_during_execution", "failed", "resumable"),
        (
            C::AskedHuman,
            "-",
            "waiting_on_human",
            "error_during_execution",
            "waiting_on_human",
            "resumable",
        ),
    ];
    for (cause, reason, terminal, subtype, state, resumable) in rows {
        let own = name(cause);
        assert_eq!(cause.as_str(), own, "{cause:?}");
        let or_own = |word: &str| if word == "-" { own.clone() } else { word.to_owned() };
        assert_eq!(cause.trace_reason(), or_own(reason), "{cause:?}");
        assert_eq!(cause.terminal_reason(), or_own(terminal), "{cause:?}");
        assert_eq!(name(cause.result_subtype(TextPresence::Present)), subtype, "{cause:?}");
        assert_eq!(name(cause.run_state(TextPresence::Present)), state, "{cause:?}");
        assert_eq!(cause.is_resumable(), resumable == "resumable", "{cause:?}");
    }
    assert_eq!(StopCause::all().count(), rows.len());
}

// spec: STOP-16
#[test]
fn only_an_unexpected_end_looks_at_the_text() {
    for cause in StopCause::all() {
        let same = cause.run_state(TextPresence::Present) == cause.run_state(TextPresence::Empty)
            && cause.result_subtype(TextPresence::Present)
                == cause.result_subtype(TextPresence::Empty);
        assert_eq!(same, cause != StopCause::Unexpected, "{cause:?}");
    }
    assert_eq!(StopCause::Unexpected.run_state(TextPresence::Empty), RunState::Failed);
    assert_eq!(
        StopCause::Unexpected.result_subtype(TextPresence::Empty),
        ResultSubtype::ErrorDuringExecution
    );
}

#[test]
fn every_cause_has_one_row() {
    let mut seen: Vec<StopCause> = StopCause::all().collect();
    seen.sort();
    seen.dedup();
    assert_eq!(seen.len(), StopCause::all().count());
    assert!(
        StopCause::all()
            .all(|cause| !cause.trace_reason().is_empty() && !cause.terminal_reason().is_empty())
    );
}

#[test]
fn blank_text_is_nothing() {
    for (text, expected) in [
        ("", TextPresence::Empty),
        (" \n\t", TextPresence::Empty),
        ("a", TextPresence::Present),
        (" \u{5d0}", TextPresence::Present),
    ] {
        assert_eq!(TextPresence::from_text(text), expected, "{text:?}");
    }
}

/// The table of `docs/stop-reasons.md`, one line for each cause.
fn printed() -> String {
    let row = |cause: StopCause| {
        let (own, reason, terminal) =
            (cause.as_str(), cause.trace_reason(), cause.terminal_reason());
        let (subtype, state) = (
            name(cause.result_subtype(TextPresence::Present)),
            name(cause.run_state(TextPresence::Present)),
        );
        let resumable = if cause.is_resumable() { "yes" } else { "no" };
        format!("| `{own}` | `{reason}` | `{terminal}` | `{subtype}` | `{state}` | {resumable} |\n")
    };
    StopCause::all().map(row).collect()
}

// spec: STOP-22
#[test]
fn the_printed_table_is_the_one_in_use() {
    let page = include_str!("../../../../docs/stop-reasons.md");
    let printed = printed();
    assert!(page.contains(&printed), "docs/stop-reasons.md should hold\n{printed}");
    let names: std::collections::BTreeSet<&str> = StopCause::all().map(StopCause::as_str).collect();
    assert_eq!(names.len(), StopCause::all().count(), "one name for each cause");
}
