//! `--sym-arg` and `--sym-args`, in the order in which they were given: it is the order of the program's arguments.

use clap::{Arg, ArgAction, ArgMatches, Args, Command, Error, FromArgMatches, value_parser};
use parallax_search::explore::ArgumentGroup;

const ONE: &str = "sym-arg";
const SEVERAL: &str = "sym-args";

/// Described arguments of the program.
#[derive(Debug, Default)]
pub struct Groups(pub Vec<ArgumentGroup>);

impl Args for Groups {
    fn augment_args(command: Command) -> Command {
        let number = || {
            Arg::new(ONE)
                .action(ArgAction::Append)
                .value_parser(value_parser!(usize))
        };
        let several = number()
            .id(SEVERAL)
            .long(SEVERAL)
            .num_args(3)
            .value_names(["MIN", "MAX", "LEN"])
            .help("From nothing: between MIN and MAX arguments of at most LEN bytes (may be repeated)");
        let one = number()
            .long(ONE)
            .value_name("LEN")
            .help("From nothing: one argument of at most LEN bytes (may be repeated)");
        command.arg(several).arg(one)
    }

    fn augment_args_for_update(command: Command) -> Command {
        Groups::augment_args(command)
    }
}

impl FromArgMatches for Groups {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Groups, Error> {
        // Every value has its place on the command line.
        let values = |id: &str| -> Vec<(usize, usize)> {
            let places = matches.indices_of(id).into_iter().flatten();
            let values = matches.get_many::<usize>(id).into_iter().flatten();
            places.zip(values.copied()).collect()
        };
        let one = values(ONE).into_iter().map(|(place, length)| {
            let group = ArgumentGroup {
                least: 1,
                most: 1,
                length,
            };
            (place, group)
        });
        let several = values(SEVERAL);
        let several = several.chunks(3).filter_map(|values| match *values {
            [(place, least), (_, most), (_, length)] => {
                let group = ArgumentGroup {
                    least,
                    most,
                    length,
                };
                Some((place, group))
            }
            _ => None,
        });
        let mut groups: Vec<(usize, ArgumentGroup)> = one.chain(several).collect();
        groups.sort_by_key(|(place, _)| *place);
        Ok(Groups(groups.into_iter().map(|(_, group)| group).collect()))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = Groups::from_arg_matches(matches)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Vec<(usize, usize, usize)>, Error> {
        let words = ["test"].into_iter().chain(line.split_ascii_whitespace());
        let matches = Groups::augment_args(Command::new("test")).try_get_matches_from(words)?;
        let groups = Groups::from_arg_matches(&matches)?.0;
        let numbers = |group: &ArgumentGroup| (group.least, group.most, group.length);
        Ok(groups.iter().map(numbers).collect())
    }

    #[test]
    fn groups_keep_the_order_of_the_command_line() {
        let mixed = parse("--sym-args 0 2 3 --sym-arg 5 --sym-args 1 1 9 --sym-arg=4").unwrap();
        assert_eq!(mixed, [(0, 2, 3), (1, 1, 5), (1, 1, 9), (1, 1, 4)]);
        assert_eq!(
            parse("--sym-arg 1 --sym-args 0 1 2").unwrap(),
            [(1, 1, 1), (0, 1, 2)]
        );
        assert_eq!(parse("").unwrap(), []);
    }

    #[test]
    fn incomplete_groups_are_refused() {
        assert!(parse("--sym-args 0 2").is_err());
        assert!(parse("--sym-args 0 2 x").is_err());
    }
}
