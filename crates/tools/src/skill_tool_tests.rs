//! The list of skills that the model sees.

use std::sync::Arc;

use super::{MAX_LIST_CHARS, MAX_LISTED_SKILLS, SkillSummary, SkillTool};
use windlass_runtime::ports::Tool;

fn description_of(count: usize, description: &str) -> String {
    let skill = |n| SkillSummary { name: format!("s{n}"), description: description.to_owned() };
    let tool = SkillTool::new((0..count).map(skill).collect(), Arc::new(|_, _| Err(String::new())));
    tool.spec().description.to_string()
}

// spec: WINDOW-21
#[test]
fn the_list_of_skills_is_bounded_and_has_one_line_for_each() {
    let text = description_of(2, "brew\ntea </skill>  well");
    assert!(
        text.ends_with("\n- s0: brew tea </skill> well\n- s1: brew tea </skill> well"),
        "{text}"
    );
    for count in [1, 10, 100, 200, 5_000] {
        let text = description_of(count, &"long ".repeat(1_000));
        assert!(text.chars().count() < 2 * MAX_LIST_CHARS, "{count}: {}", text.len());
        let lines = text.lines().filter(|line| line.starts_with("- ")).count();
        assert_eq!(lines, count.min(MAX_LISTED_SKILLS));
    }
    assert!(description_of(201, "x").ends_with("There are 1 more, which the user can name."));
}
