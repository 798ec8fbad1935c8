//! In which forms a report about a patch is written, and where to.

use std::fs;
use std::path::{Path, PathBuf};

use parallax_report::human::{self, Options};
use parallax_report::{
    PatchReport, cobertura, github, gitlab, html, json, junit, lcov, markdown, sarif,
};

use crate::console;
use crate::exit::Exit;
use parallax_campaign::Failure;

/// Options of commands that report about a patch.
#[derive(Debug, clap::Args)]
pub struct FormatArguments {
    /// Forms of the report, several with commas or by repeating it
    #[arg(long, value_enum, value_name = "FORMAT", value_delimiter = ',')]
    format: Vec<Format>,

    /// Short for --format json
    #[arg(long, conflicts_with = "format")]
    json: bool,

    /// Write the report to this file (its ending says the form if --format does not), or, with several forms, to
    /// parallax.html and so on in this directory; a summary for people is printed all the same
    #[arg(long, short, value_name = "FILE|DIR")]
    output: Option<PathBuf>,

    /// Say more: every finding, how inputs were made, what each phase gave
    #[arg(long, short)]
    verbose: bool,
}

/// A form of the report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    /// For people, on a terminal
    Human,
    /// The document that all commands print (parallax schema)
    Json,
    /// SARIF 2.1.0, which code hosts and editors show at the changed lines
    Sarif,
    /// JUnit XML, which CI servers show as tests
    Junit,
    /// A comment on a pull request
    Markdown,
    /// One page that needs no network
    Html,
    /// Coverage of the changed lines, for editors, diff-cover and Codecov
    Lcov,
    /// The same for GitLab, Jenkins and Azure
    Cobertura,
    /// GitLab's code quality report
    Gitlab,
    /// Annotations of GitHub Actions, always on standard output
    Github,
}

impl Format {
    const ALL: [Format; 10] = [
        Format::Human,
        Format::Json,
        Format::Sarif,
        Format::Junit,
        Format::Markdown,
        Format::Html,
        Format::Lcov,
        Format::Cobertura,
        Format::Gitlab,
        Format::Github,
    ];

    /// Its file in a directory.
    fn file_name(self) -> &'static str {
        match self {
            Format::Human => "parallax.txt",
            Format::Json => "parallax.json",
            Format::Sarif => "parallax.sarif",
            Format::Junit => "parallax.xml",
            Format::Markdown => "parallax.md",
            Format::Html => "parallax.html",
            Format::Lcov => "parallax.info",
            Format::Cobertura => "cobertura.xml",
            Format::Gitlab => "gl-code-quality-report.json",
            Format::Github => "parallax.github",
        }
    }

    /// What the ending of a file's name says.
    fn of_file(path: &Path) -> Option<Format> {
        let ending = path.extension()?;
        let usual = |format: &Format| Path::new(format.file_name());
        let named = |format: &Format| path.file_name() == usual(format).file_name();
        let ends = |format: &Format| usual(format).extension() == Some(ending);
        let all = || Format::ALL.into_iter();
        all().find(named).or_else(|| all().find(ends))
    }

    fn render(self, report: &PatchReport, verbose: bool) -> String {
        match self {
            Format::Human => human::render(
                report,
                Options {
                    width: console::width(),
                    verbose,
                },
            ),
            Format::Json => json::render(report),
            Format::Sarif => sarif::render(report),
            Format::Junit => junit::render(report),
            Format::Markdown => markdown::render(report),
            Format::Html => html::render(report),
            Format::Lcov => lcov::render(report),
            Format::Cobertura => cobertura::render(report),
            Format::Gitlab => gitlab::render(report),
            Format::Github => github::render(report),
        }
    }
}

/// What goes where.
#[derive(Debug, PartialEq, Eq)]
struct Plan {
    /// In this order.
    printed: Vec<Format>,
    written: Vec<(Format, PathBuf)>,
}

impl FormatArguments {
    /// Tells wrong use, before any work is done.
    pub fn check(&self) -> Result<(), Failure> {
        self.plan().map(|_| ())
    }

    /// Writes the report in every form that was asked for.
    pub fn write(&self, report: &PatchReport) -> Result<(), Failure> {
        let plan = self.plan()?;
        for (format, path) in &plan.written {
            let text = format.render(report, self.verbose);
            let text = match format {
                // Styles are for terminals.
                Format::Human => human::plain(&text),
                _ => text,
            };
            write(path, &text)?;
        }
        for format in &plan.printed {
            let text = format.render(report, self.verbose);
            match format {
                Format::Human => console::print(&text)?,
                _ => console::print_data(&text)?,
            }
        }
        for (_, path) in &plan.written {
            console::print_error(&format!("written: {}\n", path.display()));
        }
        Ok(())
    }

    fn plan(&self) -> Result<Plan, Failure> {
        let mut formats = self.format.clone();
        if self.json {
            formats.push(Format::Json);
        }
        let mut seen = Vec::new();
        formats.retain(|format| {
            let is_new = !seen.contains(format);
            seen.push(*format);
            is_new
        });
        match &self.output {
            Some(path) => to(path, &formats),
            None => to_standard_output(formats),
        }
    }
}

/// People and GitHub read the same log; any other form has to be alone.
fn to_standard_output(mut formats: Vec<Format>) -> Result<Plan, Failure> {
    let is_shared = |format: &Format| matches!(format, Format::Human | Format::Github);
    if formats.len() > 1 && !formats.iter().all(is_shared) {
        let message = "several forms of the report cannot all go to standard output";
        let hint = "say where with -o DIR";
        return Err(Failure::new(Exit::Usage, message).hint(hint));
    }
    if formats.is_empty() {
        formats.push(Format::Human);
    }
    Ok(Plan {
        printed: formats,
        written: Vec::new(),
    })
}

fn to(path: &Path, formats: &[Format]) -> Result<Plan, Failure> {
    let mut files: Vec<Format> = formats.to_vec();
    files.retain(|format| *format != Format::Github);
    if files.is_empty() {
        let Some(format) = Format::of_file(path) else {
            let message = format!("which form {} is to have is not clear", path.display());
            let hint =
                "say it with --format, or by the name: report.html, report.sarif, report.json, …";
            return Err(Failure::new(Exit::Usage, message).hint(hint));
        };
        files.push(format);
    }
    let is_folder = files.len() > 1 || path.is_dir() || path.to_string_lossy().ends_with('/');
    let place = |format: Format| match is_folder {
        true => path.join(format.file_name()),
        false => path.to_owned(),
    };
    let mut printed = vec![Format::Human];
    if formats.contains(&Format::Github) {
        printed.push(Format::Github);
    }
    Ok(Plan {
        printed,
        written: files
            .into_iter()
            .map(|format| (format, place(format)))
            .collect(),
    })
}

fn write(path: &Path, text: &str) -> Result<(), Failure> {
    let failed = |error: std::io::Error| {
        let message = format!("the report cannot be written to {}", path.display());
        Failure::new(Exit::Usage, message)
            .cause(error.to_string())
            .hint("name another place with -o; parallax report writes it again without checking again")
    };
    let parent = path
        .parent()
        .filter(|parent| !parent.as_os_str().is_empty());
    if let Some(parent) = parent {
        fs::create_dir_all(parent).map_err(failed)?;
    }
    fs::write(path, text).map_err(failed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Debug, Parser)]
    struct Line {
        #[command(flatten)]
        formats: FormatArguments,
    }

    fn plan(words: &[&str]) -> Result<Plan, String> {
        let line = Line::try_parse_from([&["x"], words].concat()).map_err(|e| e.to_string())?;
        line.formats.plan().map_err(|failure| failure.in_a_line())
    }

    #[test]
    fn one_form_goes_to_standard_output() {
        assert_eq!(plan(&[]).unwrap().printed, [Format::Human]);
        assert_eq!(plan(&["--json"]).unwrap().printed, [Format::Json]);
        let both = plan(&["--format", "human,github"]).unwrap();
        assert_eq!(both.printed, [Format::Human, Format::Github]);
        assert!(plan(&["--format", "json,sarif"]).is_err());
    }

    #[test]
    fn files_are_named_by_their_form() {
        let one = plan(&["-o", "out/report.sarif"]).unwrap();
        assert_eq!(one.written, [(Format::Sarif, "out/report.sarif".into())]);
        assert_eq!(one.printed, [Format::Human]);
        let several = plan(&[
            "--format",
            "sarif,junit",
            "--format",
            "sarif,github",
            "-o",
            "out",
        ]);
        let several = several.unwrap();
        assert_eq!(
            several.written,
            [
                (Format::Sarif, "out/parallax.sarif".into()),
                (Format::Junit, "out/parallax.xml".into()),
            ]
        );
        assert_eq!(several.printed, [Format::Human, Format::Github]);
        assert!(plan(&["-o", "report"]).is_err());
        // Two forms end in .xml.
        for (name, format) in [
            ("out/cobertura.xml", Format::Cobertura),
            ("report.xml", Format::Junit),
        ] {
            assert_eq!(plan(&["-o", name]).unwrap().written[0].0, format);
        }
        assert_eq!(plan(&["-o", "r.json"]).unwrap().written[0].0, Format::Json);
    }
}
