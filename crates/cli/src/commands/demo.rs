//! `windlass demo`: a real job in a temporary project, with real tools and a real store. Its process
//! is killed in the middle of a deployment; a second one halts for a human, a third one finishes.
//! Only the model is scripted, so it needs no key and no network.

mod project;
mod stage;
mod verdict;

use std::process::ExitCode;

use crate::args::DemoArgs;
use crate::show::{Colours, Style, line};

pub(crate) async fn demo(args: &DemoArgs) -> anyhow::Result<ExitCode> {
    let project = project::Project::new()?;
    let played = play(&project).await;
    if args.keep {
        line(&format!("\nThe project: {}", project.folder().display()));
        line(&format!("The store:   {}", project.store().display()));
    } else {
        project.remove()?;
        line("\nThe project is removed again; `windlass demo --keep` keeps it to look at.");
    }
    played
}

async fn play(project: &project::Project) -> anyhow::Result<ExitCode> {
    let colours = Colours::of_stdout();
    let title = |text: &str| line(&format!("\n{}", colours.paint(Style::Bold, text)));
    line(&format!("A project with a bug, in {}", project.folder().display()));

    title("1. An agent is told to mend it and to deploy it");
    let mut first = project.start()?;
    first.follow_until_deployed().await?;
    first.kill().await?;

    title("2. In the middle of the deployment its process is killed with SIGKILL");
    line("   the process is gone; whether the deployment is through, nobody can know");

    title("3. It starts again: what was done is not done twice, what is unknown is asked");
    project.resume().await?;

    title("4. A human looks, sees that it was deployed, and says so");
    line(&format!("   $ cat deployments.log\n   {}", project.deployments()?.trim()));
    project.answer().await?;

    title("5. Why did it do what it did?");
    project.explain().await?;

    title("6. Did all of that really happen?");
    let verdict = verdict::verdict(project).await?;
    for (what, holds) in &verdict {
        let (mark, style) = if *holds { ("✓", Style::Green) } else { ("✗", Style::Red) };
        line(&format!("   {} {what}", colours.paint(style, mark)));
    }
    let all = verdict.iter().all(|(_, holds)| *holds);
    Ok(if all { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
