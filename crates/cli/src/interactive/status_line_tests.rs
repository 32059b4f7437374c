use super::{StatusInfo, short_duration, short_tokens};
use crate::interactive::rows::without_colors;

#[test]
fn what_does_not_fit_is_left_out() {
    let status = StatusInfo {
        model: "sonnet".to_owned(),
        mode: "default".to_owned(),
        folder: "~/work/shop".to_owned(),
        branch: Some("main".to_owned()),
        context_percent: Some(12),
        usd_micros: 1_230_000,
        tokens: 40_000,
        sandbox: None,
        background_commands: 0,
        background_agents: 0,
        custom: None,
    };
    let row = |columns| without_colors(&status.row(columns));
    assert_eq!(row(80), "  asks first · sonnet · ~/work/shop (main) · 12% context · $1.23");
    assert_eq!(row(50), "  asks first · sonnet · 12% context · $1.23");
    assert_eq!(row(40), "  asks first · sonnet · 12% context");
    assert_eq!(row(20), "  asks first");
}

#[test]
fn figures_are_short() {
    assert_eq!(short_tokens(950), "950 tokens");
    assert_eq!(short_tokens(12_449), "12.4k tokens");
    assert_eq!(short_duration(65_000), "1 min 5 s");
}
