//! Every integer operator through the bit-blaster, against evaluation.

use parallax_expr::bits::mask;
use parallax_expr::build::{self, verbatim};
use parallax_expr::{Label, MemoryStore, Op, Store, eval};
use parallax_solver::{Answer, Config, Constraint, Path, SmtProgram, Solver};

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

const UNARY: [Op; 7] = [
    Op::Not,
    Op::Neg,
    Op::PopCount,
    Op::LeadingZeros,
    Op::TrailingZeros,
    Op::ByteSwap,
    Op::BitReverse,
];

/// Nothing but the SAT solver.
fn solver() -> Solver {
    Solver::new(Config {
        cache: false,
        cheap: false,
        smt: SmtProgram::Off,
        ..Config::default()
    })
}

/// A value of `width` bits made of input bytes from `offset` on.
fn word(store: &mut MemoryStore, offset: u64, width: u32) -> Label {
    let bytes = width.div_ceil(8);
    let mut label = build::input(store, 0, offset, 0x5a);
    for byte in 1..u64::from(bytes) {
        let high = build::input(store, 0, offset + byte, 0xc3);
        label = build::concat(store, high, label);
    }
    build::extract(store, label, 0, width)
}

fn sat<S: Store>(path: &mut Path<'_, S>, goal: &[Constraint]) -> bool {
    match path.solve(0, goal, None) {
        Answer::Sat(_) => true,
        Answer::Unsat(_) => false,
        Answer::Unknown(why) => panic!("undecided: {why}"),
    }
}

#[test]
fn binary_operators_on_four_bits_have_exactly_the_evaluated_results() {
    for op in BINARY {
        let mut store = MemoryStore::new();
        let x = word(&mut store, 0, 4);
        let y = word(&mut store, 1, 4);
        let result = verbatim::binary(&mut store, op, x, y);
        let width = u32::from(store.node(result).width);
        let solver = solver();
        let mut path = solver.path(&store, &[7]);
        for a in 0..16 {
            for b in 0..16 {
                let value = eval::binary(op, 4, a, b).expect("a value");
                let operands = [Constraint::equals(x, a), Constraint::equals(y, b)];
                let with = |last: Constraint| [operands[0], operands[1], last];
                let right = with(Constraint::equals(result, value));
                assert!(sat(&mut path, &right), "{op:?} {a} {b} is {value}");
                let wrong = with(Constraint::differs(result, value));
                assert!(!sat(&mut path, &wrong), "{op:?} {a} {b} is only {value}");
            }
        }
        for value in 0..=mask(width) {
            let possible =
                (0..256).any(|both| eval::binary(op, 4, both & 15, both >> 4) == Some(value));
            let found = sat(&mut path, &[Constraint::equals(result, value)]);
            assert_eq!(found, possible, "{op:?} can be {value}");
        }
    }
}

#[test]
fn operators_with_a_constant_on_five_bits_have_exactly_the_evaluated_results() {
    for op in BINARY {
        let mut store = MemoryStore::new();
        let x = word(&mut store, 0, 5);
        for k in [0, 1, 2, 3, 5, 10, 15, 16, 17, 30, 31] {
            let constant = build::constant(&mut store, 5, k);
            let right = verbatim::binary(&mut store, op, x, constant);
            let left = verbatim::binary(&mut store, op, constant, x);
            let solver = solver();
            let mut path = solver.path(&store, &[7]);
            for a in 0..32 {
                for (result, p, q) in [(right, a, k), (left, k, a)] {
                    let value = eval::binary(op, 5, p, q).expect("a value");
                    let fixed = Constraint::equals(x, a);
                    assert!(
                        sat(&mut path, &[fixed, Constraint::equals(result, value)]),
                        "{op:?} {p} {q} is {value}"
                    );
                    assert!(
                        !sat(&mut path, &[fixed, Constraint::differs(result, value)]),
                        "{op:?} {p} {q} is only {value}"
                    );
                }
            }
        }
    }
}

#[test]
fn unary_operators_have_exactly_the_evaluated_results() {
    for op in UNARY {
        for width in [1, 4, 5, 8] {
            if op == Op::ByteSwap && width != 8 {
                continue;
            }
            let mut store = MemoryStore::new();
            let x = word(&mut store, 0, width);
            let result = verbatim::unary(&mut store, op, x, width, 0);
            let solver = solver();
            let mut path = solver.path(&store, &[7]);
            for a in 0..=mask(width) {
                let value = eval::unary(op, width, width, 0, a).expect("a value");
                let fixed = Constraint::equals(x, a);
                assert!(
                    sat(&mut path, &[fixed, Constraint::equals(result, value)]),
                    "{op:?} {a}:{width} is {value}"
                );
                assert!(
                    !sat(&mut path, &[fixed, Constraint::differs(result, value)]),
                    "{op:?} {a}:{width} is only {value}"
                );
            }
        }
    }
}

/// Numbers that look random.
struct Numbers(u128);

impl Numbers {
    fn next(&mut self, width: u32) -> u128 {
        self.0 = self
            .0
            .wrapping_mul(0x2360_ed05_1fc6_5da4_4385_df64_9fcc_f645)
            .wrapping_add(0x5851_f42d_4c95_7f2d_1405_7b7e_f767_814f);
        let bits = self.0 ^ self.0 >> 64;
        // Edges are where operators differ.
        match bits >> 100 & 7 {
            0 => 0,
            1 => mask(width),
            2 => 1 << (width - 1),
            3 => bits & 15 & mask(width),
            _ => bits & mask(width),
        }
    }
}

#[test]
fn wide_operators_agree_with_evaluation_on_samples() {
    let mut numbers = Numbers(3);
    for width in [1, 2, 7, 8, 16, 24, 32, 64, 128] {
        let mut store = MemoryStore::new();
        let x = word(&mut store, 0, width);
        let y = word(&mut store, 16, width);
        for op in BINARY.into_iter().chain(UNARY) {
            if op == Op::ByteSwap && width % 8 != 0 {
                continue;
            }
            let unary = op.arity() == 1;
            let result = if unary {
                verbatim::unary(&mut store, op, x, width, 0)
            } else {
                verbatim::binary(&mut store, op, x, y)
            };
            let solver = solver();
            let mut path = solver.path(&store, &[7]);
            for _ in 0..4 {
                let (a, b) = (numbers.next(width), numbers.next(width));
                let value = if unary {
                    eval::unary(op, width, width, 0, a)
                } else {
                    eval::binary(op, width, a, b)
                }
                .expect("a value");
                let operands = [Constraint::equals(x, a), Constraint::equals(y, b)];
                let right = [operands[0], operands[1], Constraint::equals(result, value)];
                assert!(sat(&mut path, &right), "{op:?}:{width} {a} {b}");
                let wrong = [operands[0], operands[1], Constraint::differs(result, value)];
                assert!(!sat(&mut path, &wrong), "{op:?}:{width} {a} {b}");
            }
        }
    }
}

#[test]
fn extensions_extracts_and_concatenations_are_wires() {
    let mut store = MemoryStore::new();
    let x = word(&mut store, 0, 16);
    let y = word(&mut store, 2, 16);
    let both = verbatim::binary(&mut store, Op::Concat, x, y);
    let middle = verbatim::unary(&mut store, Op::Extract, both, 12, 10);
    let signed = verbatim::unary(&mut store, Op::SExt, middle, 100, 0);
    let unsigned = verbatim::unary(&mut store, Op::ZExt, middle, 100, 0);
    let solver = solver();
    let mut path = solver.path(&store, &[7]);
    let whole = 0xabcd_9234u128;
    let part = whole >> 10 & 0xfff;
    let fixed = Constraint::equals(both, whole);
    assert!(sat(&mut path, &[fixed, Constraint::equals(middle, part)]));
    assert!(sat(&mut path, &[fixed, Constraint::equals(unsigned, part)]));
    assert!(sat(&mut path, &[fixed, Constraint::equals(signed, part)]));
    let negative = 0x8f1 | mask(100) & !0xfff;
    assert!(sat(&mut path, &[Constraint::equals(signed, negative)]));
    assert!(!sat(&mut path, &[Constraint::equals(signed, 0x8f1)]));
    assert!(!sat(&mut path, &[Constraint::equals(unsigned, negative)]));
}
