//! `windlass demo`: a real task in a temporary project, with real tools and a real store. Its
//! process is killed in the middle of a deployment; a second process stops with a question for a
//! human, a third one finishes. Only the model is scripted, so the demo needs no key and no
//! network.

mod demo_checks;
mod demo_process;
mod demo_project;

use std::process::ExitCode;

use crate::args::DemoArgs;
use crate::terminal::{Color, ColorSupport, print_line};

pub(crate) async fn run(args: &DemoArgs) -> anyhow::Result<ExitCode> {
    let project = demo_project::DemoProject::new()?;
    let played = run_steps(&project).await;
    if args.keep {
        print_line(&format!("\nThe project: {}", project.work_folder().display()));
        print_line(&format!("The store:   {}", project.store_path().display()));
    } else {
        project.remove()?;
        print_line("\nThe project was removed; `windlass demo --keep` keeps it.");
    }
    played
}

async fn run_steps(project: &demo_project::DemoProject) -> anyhow::Result<ExitCode> {
    let colours = ColorSupport::of_stdout();
    let title = |text: &str| print_line(&format!("\n{}", colours.paint(Color::Bold, text)));
    print_line(&format!("A project with a bug, in {}", project.work_folder().display()));

    title("1. An agent is asked to fix it and to deploy it");
    let mut first = project.start()?;
    first.wait_until_deployed().await?;
    first.kill().await?;

    title("2. In the middle of the deployment its process is killed with SIGKILL");
    print_line("   the process is gone; it is unknown whether the deployment finished");

    title("3. It resumes: finished calls are not repeated, the unknown one is asked about");
    project.resume().await?;

    title("4. A person checks, finds one deployment, and answers");
    print_line(&format!("   $ cat deployments.log\n   {}", project.read_deployments()?.trim()));
    project.answer().await?;

    title("5. Why did it do what it did?");
    project.explain().await?;

    title("6. Checks against the log and the files");
    let verdict = demo_checks::check_demo(project).await?;
    for (what, holds) in &verdict {
        let (mark, style) = if *holds { ("✓", Color::Green) } else { ("✗", Color::Red) };
        print_line(&format!("   {} {what}", colours.paint(style, mark)));
    }
    let all = verdict.iter().all(|(_, holds)| *holds);
    Ok(if all { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
