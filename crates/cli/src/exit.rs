//! The exit codes of `parallax`, as its help tells them.

pub use parallax_campaign::Exit;

/// Shown below `parallax --help`.
pub const HELP: &str = "\
Exit codes:
  0    done, nothing found (however the program under test itself ended)
  1    findings: errors, differences, self-check mismatches, or something missing (doctor)
  2    wrong use: bad option, missing file, program not built with parallax-cc
  3    building failed: a revision of the project, or a variant of a program
  4    check: not tested, because no input runs what the patch changes
  70   internal error
  125  check: a version does not build (git bisect run skips it)
  130  interrupted";
