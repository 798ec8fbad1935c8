//! The unit templates: what programs do that random statements do not.
//!
//! Each file of `templates/units` holds several templates, each headed by a line
//! `//: NAME` and defining `static void unit_$n(void)`; names inside end in `_$n`,
//! so that one template can be used several times in a program.

use crate::rng::Rng;

/// One template.
#[derive(Clone, Copy, Debug)]
pub struct Unit {
    pub name: &'static str,
    pub text: &'static str,
}

const FILES: &[&str] = &[
    include_str!("../../templates/units/bits.c"),
    include_str!("../../templates/units/by_value.c"),
    include_str!("../../templates/units/callbacks.c"),
    include_str!("../../templates/units/control.c"),
    include_str!("../../templates/units/floats.c"),
    include_str!("../../templates/units/machine.c"),
    include_str!("../../templates/units/memory.c"),
    include_str!("../../templates/units/numbers.c"),
    include_str!("../../templates/units/pointers.c"),
    include_str!("../../templates/units/records.c"),
    include_str!("../../templates/units/recursion.c"),
    include_str!("../../templates/units/strings.c"),
    include_str!("../../templates/units/system.c"),
    include_str!("../../templates/units/tables.c"),
    include_str!("../../templates/units/varargs.c"),
];

/// All templates.
pub fn all() -> Vec<Unit> {
    let mut units = Vec::new();
    for file in FILES {
        for part in file.split("//: ").skip(1) {
            let (name, text) = part.split_once('\n').expect("a template has a body");
            units.push(Unit { name, text });
        }
    }
    units
}

/// The units of one program.
pub fn choose(rng: &mut Rng) -> Vec<Unit> {
    let mut units = all();
    rng.shuffle(&mut units);
    units.truncate(rng.between(5, 9));
    units
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn every_template_has_a_name_of_its_own_and_defines_its_unit() {
        let units = all();
        let names: HashSet<&str> = units.iter().map(|unit| unit.name).collect();
        assert_eq!(names.len(), units.len());
        for unit in units {
            assert!(
                unit.text.contains("static void unit_$n(void)"),
                "{}",
                unit.name
            );
        }
    }
}
