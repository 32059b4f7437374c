use crate::budget::spending::{
    Budget, CallAllowance, LongPromptPrice, ModelPrice, PlannedCall, Spending, SpendingCaps,
    allow_call,
};
use crate::message::reply::TokenUsage;
use crate::stop::StopCause;

const PRICE: ModelPrice = ModelPrice {
    input_usd_micros: 3_000_000,
    output_usd_micros: 15_000_000,
    cache_read_usd_micros: 300_000,
    cache_write_usd_micros: 3_750_000,
    above: None,
};

fn planned(input_tokens: u64, cap_tokens: u64) -> PlannedCall {
    PlannedCall { input_tokens, cap_tokens, least_tokens: 1_024 }
}

fn tokens(tokens: u64) -> SpendingCaps {
    SpendingCaps { tokens: Some(tokens), usd_micros: None }
}

fn dollars(usd_micros: u64) -> SpendingCaps {
    SpendingCaps { tokens: None, usd_micros: Some(usd_micros) }
}

fn spent(tokens: u64, usd_micros: u64) -> Spending {
    Spending { tokens, usd_micros }
}

#[test]
fn a_price_is_counted_by_class_and_rounded_up() {
    let usage = TokenUsage {
        input_tokens: 1_000,
        output_tokens: 100,
        cache_read_tokens: 10_000,
        cache_write_tokens: 1_000,
    };
    assert_eq!(PRICE.cost_of(&usage), 3_000 + 1_500 + 3_000 + 3_750);
    assert_eq!(PRICE.cost_of(&TokenUsage { cache_read_tokens: 1, ..TokenUsage::default() }), 1);
    assert_eq!(PRICE.cost_of(&TokenUsage::default()), 0);
    let all = TokenUsage {
        input_tokens: u64::MAX,
        output_tokens: u64::MAX,
        cache_read_tokens: u64::MAX,
        cache_write_tokens: u64::MAX,
    };
    assert_eq!(PRICE.cost_of(&all), u64::MAX);
}

#[test]
fn a_long_prompt_is_counted_at_its_own_price_cached_or_not() {
    let above = LongPromptPrice {
        input_tokens: 1_000,
        input_usd_micros: 6_000_000,
        output_usd_micros: 30_000_000,
        cache_read_usd_micros: 600_000,
        cache_write_usd_micros: 7_500_000,
    };
    let price = ModelPrice { above: Some(above), ..PRICE };
    let usage = |input_tokens, cache_read_tokens| TokenUsage {
        input_tokens,
        cache_read_tokens,
        output_tokens: 100,
        ..TokenUsage::default()
    };
    assert_eq!(price.cost_of(&usage(1_000, 0)), 3_000 + 1_500, "at the bound it is not long");
    assert_eq!(price.cost_of(&usage(1_001, 0)), 6_006 + 3_000);
    assert_eq!(price.cost_of(&usage(1, 1_000)), 6 + 600 + 3_000);
    // A cap counts with it before the call is made: 12 cents buy 3,800 tokens, not 7,800.
    let caps = [(dollars(120_000), spent(0, 0))];
    let found = allow_call(planned(1_001, 8_000), Some(&price), &caps).unwrap();
    assert_eq!(found.max_tokens, (120_000 - 6_006) / 30);
    let old: ModelPrice = serde_json::from_str(&serde_json::to_string(&PRICE).unwrap()).unwrap();
    assert_eq!(old, PRICE, "settings of before have no step");
}

#[test]
fn the_tightest_cap_decides_how_much_room_there_is() {
    let caps = [
        (tokens(100_000), spent(10_000, 0)),
        (tokens(20_000), spent(15_000, 0)),
        (dollars(1_000_000), spent(0, 0)),
    ];
    let found = allow_call(planned(2_000, 8_000), Some(&PRICE), &caps);
    assert_eq!(
        found,
        Ok(CallAllowance { max_tokens: 3_000, lowered_by: Some(StopCause::BudgetTokens) })
    );
    let free = allow_call(planned(2_000, 8_000), None, &[(dollars(0), spent(0, 0))]);
    assert_eq!(free, Ok(CallAllowance { max_tokens: 8_000, lowered_by: None }));
}

#[test]
fn too_little_room_names_its_cap() {
    let none = allow_call(planned(9_500, 8_000), Some(&PRICE), &[(tokens(10_000), spent(0, 0))]);
    assert_eq!(none, Err(StopCause::BudgetTokens));
    let none =
        allow_call(planned(1_000, 8_000), Some(&PRICE), &[(dollars(10_000), spent(0, 5_000))]);
    assert_eq!(none, Err(StopCause::BudgetUsd));
    // A call that never wants more than that is still made.
    let small = allow_call(planned(1_000, 100), Some(&PRICE), &[(tokens(1_200), spent(0, 0))]);
    assert_eq!(small.map(|allowance| allowance.max_tokens), Ok(100));
}

#[test]
fn what_is_reserved_is_within_the_cap() {
    for input in [0, 1, 999, 12_345] {
        for cap in [1_u64, 50_000, 123_456, 9_999_999] {
            if let Ok(CallAllowance { max_tokens, .. }) =
                allow_call(planned(input, 64_000), Some(&PRICE), &[(dollars(cap), spent(0, 0))])
            {
                let worst = TokenUsage {
                    input_tokens: input,
                    output_tokens: max_tokens,
                    ..TokenUsage::default()
                };
                assert!(PRICE.cost_of(&worst) <= cap, "{input} {cap} {max_tokens}");
            }
        }
    }
}

#[test]
fn equal_is_not_passed() {
    assert_eq!(tokens(5).exceeded_cap(&spent(5, 0)), None);
    assert_eq!(tokens(5).exceeded_cap(&spent(6, 0)), Some(StopCause::BudgetTokens));
    assert_eq!(dollars(5).exceeded_cap(&spent(9, 6)), Some(StopCause::BudgetUsd));
    assert_eq!(SpendingCaps::default().exceeded_cap(&spent(u64::MAX, u64::MAX)), None);
}

#[test]
fn shares_rests_and_multiples() {
    let caps = SpendingCaps { tokens: Some(90), usd_micros: Some(30) };
    assert_eq!(
        caps.remaining(&spent(100, 10)),
        SpendingCaps { tokens: Some(0), usd_micros: Some(20) }
    );
    assert_eq!(caps.divided_by(3), SpendingCaps { tokens: Some(30), usd_micros: Some(10) });
    assert_eq!(caps.divided_by(0), caps);
    assert_eq!(
        caps.multiplied_by(u64::MAX),
        SpendingCaps { tokens: Some(u64::MAX), usd_micros: Some(u64::MAX) }
    );
    assert_eq!(caps.tighter_of(&tokens(5)), SpendingCaps { tokens: Some(5), usd_micros: Some(30) });
    assert_eq!(
        SpendingCaps::default().tighter_of(&SpendingCaps::default()),
        SpendingCaps::default()
    );
    assert_eq!(caps.as_spending(), spent(90, 30));
    assert_eq!(caps.spent_percent(&spent(45, 27)), 90);
    assert_eq!(tokens(0).spent_percent(&spent(u64::MAX, 0)), u64::MAX);
}

#[test]
fn any_cap_in_dollars_counts_money() {
    assert!(!Budget::default().has_money_cap());
    assert!(!Budget { run: tokens(5), ..Budget::default() }.has_money_cap());
    assert!(Budget { call: dollars(5), ..Budget::default() }.has_money_cap());
    let mut budget = Budget::default();
    budget.profile.caps = dollars(5);
    assert!(budget.has_money_cap());
}

#[test]
fn periods_are_named_by_the_calendar() {
    use crate::budget::spending::BudgetPeriod;
    use crate::log::ids::UnixMillis;
    let days = [
        (0, "1970-01-01"),
        (951_782_400_000, "2000-02-29"),
        (951_868_800_000, "2000-03-01"),
        (1_794_787_200_000 - 1, "2026-11-15"),
        (1_794_787_200_000, "2026-11-16"),
        (4_107_542_400_000, "2100-03-01"),
    ];
    for (at, day) in days {
        assert_eq!(BudgetPeriod::Day.label(UnixMillis(at)), day);
        assert_eq!(BudgetPeriod::Month.label(UnixMillis(at)), &day[..7]);
        assert_eq!(BudgetPeriod::Total.label(UnixMillis(at)), "total");
    }
}
