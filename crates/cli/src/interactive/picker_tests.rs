use super::*;

fn picker() -> Picker {
    let item = |label: &str, about: &str| PickerItem {
        label: label.to_owned(),
        about: about.to_owned(),
        choice: PickerChoice::Model(label.to_owned()),
    };
    Picker::new("Choose", vec![item("fix the build", "2h"), item("write a test", "3d")])
}

#[test]
fn what_is_typed_filters_the_list() {
    let mut picker = picker();
    for c in "TEST 3d".chars() {
        picker.on_key(&Key::Char(c));
    }
    let chosen = PickerChoice::Model("write a test".to_owned());
    assert_eq!(picker.on_key(&Key::Enter), PickerKey::Chosen(chosen));
    picker.on_key(&Key::Char('x'));
    assert_eq!(picker.on_key(&Key::Enter), PickerKey::Used);
}

#[test]
fn arrows_stay_in_the_list() {
    let mut picker = picker();
    for _ in 0..5 {
        picker.on_key(&Key::Down);
    }
    assert_eq!(picker.selected, 1);
    picker.on_key(&Key::PageUp);
    assert_eq!(picker.selected, 0);
    assert_eq!(picker.on_key(&Key::Escape), PickerKey::Closed);
}

#[test]
fn rows_fit_any_width() {
    for columns in [10, 40, 200] {
        let (rows, _) = picker().rows(columns, 8);
        let widest = rows.iter().skip(3).take(2).map(|row| row_width(row)).max();
        assert!(widest.is_some_and(|width| width <= columns.max(14)), "{columns}: {rows:?}");
    }
}
