use super::{OutputStyle, OutputStyles};

fn styles(names: &[&str]) -> OutputStyles {
    let style = |name: &&str| OutputStyle {
        name: (*name).to_owned(),
        text: "Rhyme.".to_owned(),
        keeps_coding_instructions: false,
    };
    OutputStyles { found: names.iter().map(style).collect(), ..OutputStyles::default() }
}

#[test]
fn the_default_style_needs_no_file_and_can_be_replaced_by_one() {
    assert_eq!(styles(&["poet"]).find("default").unwrap(), None);
    assert_eq!(styles(&["poet"]).find("Default").unwrap(), None);
    assert!(styles(&["default"]).find("default").unwrap().is_some());
}

#[test]
fn an_unknown_style_is_an_error_with_the_known_ones() {
    let error = styles(&["brief", "poet"]).find("Poet").unwrap_err().to_string();
    assert_eq!(error, "unknown output style `Poet`; available: default, brief, poet");
}
