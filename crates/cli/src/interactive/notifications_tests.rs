use super::*;

#[test]
fn the_terminal_is_told_in_its_own_way() {
    let kind = |variables: &[(&str, &str)]| {
        let known: Vec<(String, String)> = variables
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect();
        NotificationKind::Auto.resolve(|name| {
            known.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone())
        })
    };
    assert_eq!(kind(&[("TERM", "xterm-256color")]), NotificationKind::Bell);
    assert_eq!(kind(&[("TERM_PROGRAM", "iTerm.app")]), NotificationKind::Osc9);
    assert_eq!(kind(&[("TERM_PROGRAM", "iTerm.app"), ("TMUX", "x")]), NotificationKind::Bell);
    assert_eq!(kind(&[("TERM", "foot")]), NotificationKind::Osc777);
    assert_eq!(NotificationKind::Off.resolve(|_| None).bytes("x"), "");
    let hostile = NotificationKind::Osc777.bytes("a;b\u{7}\u{1b}]0;x\u{7}");
    assert_eq!(hostile.matches('\u{7}').count(), 1, "{hostile:?}");
    assert_eq!(hostile.matches('\u{1b}').count(), 1, "{hostile:?}");
}

#[test]
fn a_title_is_set_once_and_brought_back() {
    let mut title = WindowTitle::new("xterm");
    assert_eq!(
        title.update(WindowState::Working, "fix\nit"),
        "\u{1b}[22;0t\u{1b}]0;✳ windlass · fix it\u{7}"
    );
    assert_eq!(title.update(WindowState::Working, "fix\nit"), "");
    assert!(title.update(WindowState::Idle, "~/shop").starts_with("\u{1b}]0;"));
    assert!(title.restore().ends_with("\u{1b}[23;0t"));
    assert_eq!(title.restore(), "");
    assert_eq!(WindowTitle::new("linux").update(WindowState::Idle, "x"), "");
}
