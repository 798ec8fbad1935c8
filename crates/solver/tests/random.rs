//! Random expressions: every layer against those below, down to z3, and every model against evaluation.

use parallax_expr::bits::mask;
use parallax_expr::{Evaluator, Label, MemoryStore, Op, Store, build};
use parallax_solver::{Answer, Config, Constraint, Holds, Limits, Solver};
use proptest::prelude::*;
use std::time::Duration;

const INPUTS: u64 = 4;

/// How one node is made from earlier ones.
#[derive(Clone, Debug)]
struct Step {
    kind: u8,
    operands: [usize; 3],
    number: u128,
}

fn step() -> impl Strategy<Value = Step> {
    (any::<u8>(), any::<[usize; 3]>(), any::<u128>()).prop_map(|(kind, operands, number)| Step {
        kind,
        operands,
        number,
    })
}

const BINARY: [Op; 18] = [
    Op::Add,
    Op::Sub,
    Op::Mul,
    Op::UDiv,
    Op::SDiv,
    Op::URem,
    Op::SRem,
    Op::Shl,
    Op::LShr,
    Op::AShr,
    Op::And,
    Op::Or,
    Op::Xor,
    Op::Eq,
    Op::Ult,
    Op::Ule,
    Op::Slt,
    Op::Sle,
];
const UNARY: [Op; 6] = [
    Op::Not,
    Op::Neg,
    Op::PopCount,
    Op::LeadingZeros,
    Op::TrailingZeros,
    Op::BitReverse,
];

/// `label` at another width.
fn fit(store: &mut MemoryStore, label: Label, width: u32, signed: bool) -> Label {
    match u32::from(store.node(label).width) {
        own if own == width => label,
        own if own > width => build::extract(store, label, 0, width),
        _ if signed => build::sext(store, label, width),
        _ => build::zext(store, label, width),
    }
}

fn grow(store: &mut MemoryStore, table: u32, nodes: &mut Vec<Label>, step: &Step) {
    let pick = |at: usize| nodes[step.operands[at] % nodes.len()];
    let (a, b, c) = (pick(0), pick(1), pick(2));
    let width = |store: &MemoryStore, label: Label| u32::from(store.node(label).width);
    let signed = step.number & 1 != 0;
    let made = match step.kind % 40 {
        kind @ 0..18 => {
            let b = fit(store, b, width(store, a), signed);
            build::binary(store, BINARY[usize::from(kind)], a, b)
        }
        kind @ 18..24 => build::unary(store, UNARY[usize::from(kind - 18)], a, 0, 0),
        24..26 if width(store, a) + width(store, b) <= 64 => build::concat(store, a, b),
        26..28 => {
            let low = (step.number >> 8) as u32 % width(store, a);
            build::extract(
                store,
                a,
                low,
                1 + (step.number >> 16) as u32 % (width(store, a) - low),
            )
        }
        28..30 => fit(
            store,
            a,
            [1, 5, 8, 16, 24, 32][(step.number >> 8) as usize % 6],
            signed,
        ),
        30..33 => {
            let condition = fit(store, c, 1, false);
            let b = fit(store, b, width(store, a), signed);
            build::ite(store, condition, a, b)
        }
        33 => {
            let index = fit(store, a, 3, false);
            let index = build::zext(store, index, 64);
            let base = build::constant(store, 64, 0x1000);
            let address = build::add(store, index, base);
            let mut evaluator = Evaluator::new(&*store, parallax_expr::Recorded);
            let at = evaluator.value(address).expect("an address") as usize - 0x1000;
            let value = (at < TABLE.len()).then(|| TABLE[at]);
            match value {
                Some(value) => build::table(store, address, table, 8, u128::from(value)),
                None => a,
            }
        }
        _ => {
            let width = width(store, a);
            let small = step.number >> 120;
            let value = if signed { small } else { step.number };
            build::constant(store, width, value & mask(width))
        }
    };
    nodes.push(made);
}

/// Shorter than what three bits can index.
const TABLE: [u8; 6] = [7, 200, 0, 13, 13, 255];

#[derive(Clone, Debug)]
struct Case {
    steps: Vec<Step>,
    seed: [u8; INPUTS as usize],
    /// An input that the path's constraints hold for.
    other: [u8; INPUTS as usize],
    asked: Vec<(usize, u8, u128)>,
}

fn case() -> impl Strategy<Value = Case> {
    (
        prop::collection::vec(step(), 3..25),
        any::<[u8; INPUTS as usize]>(),
        any::<[u8; INPUTS as usize]>(),
        prop::collection::vec((any::<usize>(), any::<u8>(), any::<u128>()), 1..4),
    )
        .prop_map(|(steps, seed, other, asked)| Case {
            steps,
            seed,
            other,
            asked,
        })
}

fn check(case: &Case, oracle: bool) -> Result<(), TestCaseError> {
    let mut store = MemoryStore::new();
    let table = store.add_table(0x1000, &TABLE, None);
    let mut nodes: Vec<Label> = (0..INPUTS)
        .map(|offset| build::input(&mut store, 0, offset, case.seed[offset as usize]))
        .collect();
    for step in &case.steps {
        grow(&mut store, table, &mut nodes, step);
    }
    let operators = &nodes[INPUTS as usize..];
    let mut evaluator = Evaluator::new(&store, |_, offset: u64| Some(case.other[offset as usize]));
    let mut goal = Vec::new();
    let mut satisfiable = true;
    for (which, kind, number) in &case.asked {
        let label = operators[which % operators.len()];
        let all = mask(u32::from(store.node(label).width));
        let value = evaluator.value(label);
        satisfiable &= value.is_some();
        let value = value.unwrap_or(*number & all);
        let holds = match kind % 6 {
            0..3 => Holds::Equals(value),
            3 => Holds::Within(value, value | 7 & all),
            4 => Holds::Outside(value.wrapping_add(1) & all, (value | 0xf0 & all).max(value)),
            _ => Holds::Differs(*number & all),
        };
        satisfiable &= holds.of(value);
        goal.push(Constraint { label, holds });
    }
    let solver = Solver::new(Config {
        oracle,
        limits: Limits {
            time: Duration::from_secs(5),
            ..Limits::default()
        },
        ..Config::default()
    });
    let mut path = solver.path(&store, &[0]);
    let (last, before) = goal.split_last().expect("a goal");
    for &constraint in before {
        path.push(constraint);
    }
    let answer = path.solve(before.len(), &[*last], None);
    let statistics = solver.statistics();
    prop_assert!(
        statistics.disagreements.is_empty(),
        "{:?}",
        statistics.disagreements
    );
    prop_assert_eq!(statistics.wrong_models, 0);
    match &answer {
        Answer::Sat(model) => {
            // Constraints that share no byte with the goal are not part of the question.
            let mut evaluator =
                Evaluator::new(&store, |_, offset| model.bytes.get(&(0, offset)).copied());
            let value = evaluator.value(last.label);
            prop_assert!(value.is_some_and(|value| last.holds.of(value)), "{value:?}");
        }
        Answer::Unsat(_) => prop_assert!(!satisfiable, "{:?} is a model", case.other),
        Answer::Unknown(why) => prop_assert!(*why == parallax_solver::Why::Limit, "{why}"),
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, ..ProptestConfig::default() })]

    #[test]
    fn answers_agree_with_evaluation(case in case()) {
        check(&case, false)?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    #[test]
    fn layers_agree_with_each_other_and_with_z3(case in case()) {
        check(&case, true)?;
    }
}
