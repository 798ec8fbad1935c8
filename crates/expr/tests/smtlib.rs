//! SMT-LIB scripts: their text, and what a solver says to them.
//!
//! The ignored tests need `z3` on the `PATH`:
//! `cargo test -p parallax-expr --test smtlib -- --ignored`.

mod common;

use common::{Graph, INPUTS, Plain};
use parallax_expr::build::{self, verbatim};
use parallax_expr::sexpr::{Construction, parse, print};
use parallax_expr::{Label, MemoryStore, Op, Store, smtlib};
use std::io::Write;
use std::process::{Command, Stdio};

fn script(expression: &str) -> String {
    let mut store = MemoryStore::new();
    let label = parse(&mut store, expression, Construction::Canonical).expect("a valid expression");
    smtlib::script(&store, &[label])
}

#[test]
fn inputs_are_declared_and_shared_terms_defined_once() {
    assert_eq!(
        script("(let ((x (add (input 0 0) (input 3 70)))) (ult (mul x x) (xor x 5:8)))"),
        "(set-logic QF_BV)\n\
         (declare-const in_0_0 (_ BitVec 8))\n\
         (declare-const in_3_70 (_ BitVec 8))\n\
         (define-fun n3 () (_ BitVec 8) (bvadd in_0_0 in_3_70))\n\
         (assert (= (ite (bvult (bvmul n3 n3) (bvxor n3 #x05)) #b1 #b0) #b1))\n\
         (check-sat)\n"
    );
}

#[test]
fn bits_of_floating_point_results_are_constrained_constants() {
    let text =
        script("(eq (fadd (concat (input 0 0) 0:24) 0x3f800000:32) (concat (input 0 1) 0:24))");
    assert!(text.starts_with("(set-logic QF_BVFP)\n"), "{text}");
    assert!(
        text.contains("(_ FloatingPoint 8 24) (fp.add RNE"),
        "{text}"
    );
    assert!(text.contains("(assert (= ((_ to_fp 8 24) n"), "{text}");
}

#[test]
fn deep_expressions_nest_only_a_little() {
    let mut store = MemoryStore::new();
    let x = build::input(&mut store, 0, 0, 1);
    let mut label = x;
    for index in 0..5000u64 {
        let y = build::input(&mut store, 0, index % 7, 1);
        label = build::binary(
            &mut store,
            [Op::Mul, Op::Xor, Op::Sub][index as usize % 3],
            label,
            y,
        );
    }
    let zero = build::constant(&mut store, 8, 77);
    let label = build::binary(&mut store, Op::Ult, label, zero);
    let text = smtlib::script(&store, &[label]);
    let mut depth = 0i32;
    let mut deepest = 0;
    for c in text.chars() {
        depth += i32::from(c == '(') - i32::from(c == ')');
        deepest = deepest.max(depth);
    }
    assert_eq!(depth, 0);
    assert!(deepest < 60, "{deepest} levels");
}

/// What z3 answers to each script.
fn z3(scripts: &[String]) -> Vec<String> {
    let mut child = Command::new("z3")
        .args(["-in", "-t:10000"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("z3 is on the PATH");
    let mut input = child.stdin.take().expect("a pipe");
    let text = scripts.join("(reset)\n");
    let writer = std::thread::spawn(move || input.write_all(text.as_bytes()));
    let output = child.wait_with_output().expect("z3 ends");
    writer
        .join()
        .expect("the writer ends")
        .expect("all is written");
    String::from_utf8(output.stdout)
        .expect("text")
        .lines()
        .map(str::to_owned)
        .collect()
}

/// Pairs of expressions that must be equal for all inputs.
#[derive(Default)]
struct Proofs {
    store: MemoryStore,
    scripts: Vec<String>,
    claims: Vec<String>,
}

impl Proofs {
    fn claim_equal(&mut self, a: Label, b: Label) {
        if a == b {
            return;
        }
        let equal = verbatim::binary(&mut self.store, Op::Eq, a, b);
        let different = verbatim::unary(&mut self.store, Op::Not, equal, 1, 0);
        self.scripts.push(smtlib::script(&self.store, &[different]));
        self.claims.push(format!(
            "{} == {}",
            print(&self.store, a),
            print(&self.store, b)
        ));
    }

    /// Asserts that no claim is refuted, and few are undecided.
    fn check(self) {
        let answers = z3(&self.scripts);
        assert_eq!(
            answers.len(),
            self.claims.len(),
            "one answer per claim: {answers:?}"
        );
        let mut undecided = Vec::new();
        for (answer, claim) in answers.iter().zip(&self.claims) {
            match answer.as_str() {
                "unsat" => {}
                "unknown" | "timeout" => undecided.push(claim.as_str()),
                other => panic!("z3 says {other} to the opposite of\n{claim}"),
            }
        }
        assert!(
            undecided.is_empty(),
            "{} of {} undecided:\n{}",
            undecided.len(),
            answers.len(),
            undecided.join("\n")
        );
    }
}

/// One or more left-hand sides per rule; `W` is the width, `x`, `y`, `z` values of that width, `b`, `c`
/// bytes, `p`, `q` bits, `K` and `L` constants.
const RULES: &[&str] = &[
    "(add (add x K:W) L:W)",
    "(add (sub K:W x) L:W)",
    "(sub K:W (add x L:W))",
    "(add (add x K:W) y)",
    "(sub (add x K:W) (add y L:W))",
    "(add (not x) K:W)",
    "(sub K:W (not x))",
    "(sub x (neg y))",
    "(sub (add x y) (add y z))",
    "(sub x (sub x y))",
    "(neg (add x K:W))",
    "(not (add x K:W))",
    "(not (sub K:W x))",
    "(not (neg x))",
    "(neg (not x))",
    "(xor (not x) y)",
    "(mul (neg x) K:W)",
    "(and (or x K:W) L:W)",
    "(or (and x K:W) L:W)",
    "(and (xor x K:W) L:W)",
    "(and x (or x y))",
    "(or x (and x y))",
    "(udiv x K:W)",
    "(urem x K:W)",
    "(sdiv x K:W)",
    "(srem x K:W)",
    "(udiv x 0:W)",
    "(shl x K:W)",
    "(lshr x K:W)",
    "(ashr x K:W)",
    "(shl (shl x K:W) L:W)",
    "(ashr (shl x K:W) K:W)",
    "(and x K:W)",
    "(or x K:W)",
    "(eq (add x K:W) L:W)",
    "(eq (sub K:W x) L:W)",
    "(eq (xor x K:W) L:W)",
    "(eq (neg x) K:W)",
    "(eq (not x) K:W)",
    "(eq (sub x y) 0:W)",
    "(eq (add x y) (add y z))",
    "(eq (add x y) x)",
    "(eq (add x K:W) (add y L:W))",
    "(eq (and x K:W) L:W)",
    "(eq (or x K:W) L:W)",
    "(ult x K:W)",
    "(ule x K:W)",
    "(slt x K:W)",
    "(sle x K:W)",
    "(ult K:W x)",
    "(ule K:W x)",
    "(slt K:W x)",
    "(sle K:W x)",
    "(not (slt x y))",
    "(ite p K:W L:W)",
    "(eq (ite p K:W L:W) K:W)",
    "(slt (ite p K:W L:W) x)",
    "(ite p (ite p x y) z)",
    "(ite (not p) x y)",
    "(neg (sext W p))",
    "(bitreverse (bitreverse x))",
    "(eq (bitreverse x) K:W)",
    "(mul x K:W)",
    "(sub (zext W p) x)",
    "(eq (zext W p) K:W)",
    "(slt (sext W p) K:W)",
];

/// Rules on extensions and parts of bytes; needs `W` above 8.
const WIDE_RULES: &[&str] = &[
    "(and (zext W b) K:W)",
    "(and (sext W b) K:W)",
    "(or (zext W b) K:W)",
    "(xor (zext W b) K:W)",
    "(udiv (zext W b) K:W)",
    "(srem (zext W b) K:W)",
    "(sdiv (zext W b) K:W)",
    "(eq (zext W b) K:W)",
    "(eq (sext W b) K:W)",
    "(ult (zext W b) K:W)",
    "(slt (zext W b) K:W)",
    "(sle K:W (zext W b))",
    "(ult (sext W b) K:W)",
    "(ule K:W (sext W b))",
    "(slt (sext W b) K:W)",
    "(slt (zext W b) (zext W c))",
    "(ult (sext W b) (sext W c))",
    "(or (shl (zext W b) 8:W) (zext W c))",
    "(or (shl (sext W b) 8:W) (zext W c))",
    "(add (mul (zext W b) 256:W) (zext W c))",
    "(or (shl x 8:W) (zext W b))",
    "(or (and x K:W) (zext W b))",
    "(ite p (zext W b) K:W)",
    "(ite p (sext W b) K:W)",
    "(extract 3 6 (sext W b))",
    "(extract 3 6 (zext W b))",
    "(extract 0 8 (add (sext W b) K:W))",
    "(extract 0 8 (mul x (zext W b)))",
    "(xor (shl (zext W b) K:W) (zext W c))",
    "(extract 1 7 (shl x K:W))",
    "(and (lshr x K:W) 0xff:W)",
];

/// Rules on concatenations, of fixed width.
const CONCAT_RULES: &[&str] = &[
    "(and (concat b c) K:16)",
    "(or (concat b c) K:16)",
    "(xor (concat b c) K:16)",
    "(ult (concat b 7:8) K:16)",
    "(slt (concat b 7:8) K:16)",
    "(ule (concat 7:8 b) K:16)",
    "(sle (concat 0x87:8 b) K:16)",
    "(eq (concat b 7:8) K:16)",
    "(concat (sext 16 b) c)",
    "(concat (sext 8 (extract 7 1 b)) b)",
    "(bswap (concat b (concat c (concat b c))))",
    "(eq (concat b c) (concat b b))",
    "(eq (bswap (concat b c)) K:16)",
    "(concat 5:8 (zext 16 b))",
    "(extract 4 8 (concat b c))",
    "(shl (concat b c) 8:16)",
    "(ashr (concat b c) 5:16)",
];

#[test]
#[ignore = "needs z3"]
fn every_rule_is_proved_at_every_width() {
    let mut proofs = Proofs::default();
    let mut skipped: Vec<String> = Vec::new();
    let wide: String = (0..16).fold(String::new(), |rest, i| match i {
        0 => "(input 0 0)".to_owned(),
        _ => format!("(concat (input 0 {i}) {rest})"),
    });
    for width in [1u32, 7, 8, 16, 24, 32, 33, 64, 80, 128] {
        let ones = common::mask(width);
        let constants = [
            0,
            1,
            2,
            7,
            0x80,
            0xff,
            0xff00,
            0x0ff0,
            ones,
            ones >> 1,
            (ones >> 1) + 1,
            ones - 1,
        ];
        let names = format!(
            "(let ((i {wide}) (s (add i (bitreverse i))) (t (sub (bitreverse i) s)) (x (extract 0 {width} s))
                  (y (extract 0 {width} t)) (z (extract 0 {width} (xor s (bitreverse t)))) (b (input 0 0)) (c (input 0 1))
                  (p (extract 100 1 s)) (q (extract 101 1 s)))"
        );
        let mut rules: Vec<&str> = RULES.to_vec();
        if width > 8 {
            rules.extend(WIDE_RULES);
        }
        if width == 16 {
            rules.extend(CONCAT_RULES);
        }
        for rule in rules {
            for (index, k) in constants.iter().enumerate() {
                if index > 0 && !rule.contains('K') {
                    break;
                }
                let limit = if rule.contains("shl") || rule.contains("shr") {
                    k % 130
                } else {
                    *k
                };
                let (k, l) = (
                    limit & ones,
                    constants[(index * 5 + 3) % constants.len()] & ones,
                );
                // Extensions of one bit to one bit, and byte constants in fewer bits, do not exist.
                let text = rule
                    .replace(":W", &format!(":{width}"))
                    .replace(" W ", &format!(" {width} "))
                    .replace('K', &k.to_string())
                    .replace('L', &l.to_string());
                let text = format!("{names} {text})");
                let plain = match parse(&mut proofs.store, &text, Construction::Verbatim) {
                    Ok(plain) => plain,
                    Err(error) => {
                        skipped.push(format!("{rule} of {width} bits, K = {k}: {error}"));
                        continue;
                    }
                };
                let canonical = parse(&mut proofs.store, &text, Construction::Canonical)
                    .expect("what can be written can be built");
                proofs.claim_equal(plain, canonical);
            }
        }
    }
    assert!(
        skipped.is_empty(),
        "{} skipped:\n{}",
        skipped.len(),
        skipped.join("\n")
    );
    assert!(
        proofs.claims.len() > 3000,
        "only {} claims",
        proofs.claims.len()
    );
    proofs.check();
}

#[test]
#[ignore = "needs z3"]
fn operators_mean_in_smtlib_what_they_mean_here() {
    let mut input = [0u8; INPUTS];
    for (index, byte) in input.iter_mut().enumerate() {
        *byte = (index as u8).wrapping_mul(37) ^ 0x5a;
    }
    // A plain number, so that floating point is not all extremes.
    input[..4].copy_from_slice(&1234.56f32.to_le_bytes());
    input[4..12].copy_from_slice(&(-7.25f64).to_le_bytes());
    let mut graph = Graph::default();
    let bytes: Vec<usize> = (0..INPUTS as u64)
        .map(|i| graph.push(Plain::Input(i), 8))
        .collect();
    let join = |graph: &mut Graph, range: std::ops::Range<usize>| {
        let mut whole = bytes[range.start];
        for &byte in &bytes[range.start + 1..range.end] {
            whole = graph.binary(Op::Concat, byte, whole);
        }
        whole
    };
    let single = join(&mut graph, 0..4);
    let double = join(&mut graph, 4..12);
    let other = join(&mut graph, 12..16);
    let small = graph.constant(32, u128::from(3.5f32.to_bits()));
    let long = graph.unary(Op::FToF, double, 80, 0);
    let long_small = graph.unary(Op::FToF, small, 80, 0);
    use Op::*;
    for op in [
        Add, Sub, Mul, UDiv, SDiv, URem, SRem, Shl, LShr, AShr, And, Or, Xor, Eq, Ult, Ule, Slt,
        Sle, Concat,
    ] {
        graph.binary(op, single, other);
    }
    for op in [
        Not,
        Neg,
        PopCount,
        LeadingZeros,
        TrailingZeros,
        ByteSwap,
        BitReverse,
    ] {
        graph.unary(op, other, 32, 0);
    }
    for (a, b) in [(single, small), (long, long_small)] {
        let width = graph.width(a);
        for op in [FAdd, FSub, FMul, FDiv, FRem, FEq, FLt, FLe] {
            graph.binary(op, a, b);
        }
        for mode in 0..5 {
            graph.unary(FRound, a, width, mode);
        }
        graph.unary(FSqrt, b, width, 0);
        graph.unary(FIsNan, a, 1, 0);
        graph.unary(FToS, a, 33, 0);
        graph.unary(FToU, b, 16, 0);
        graph.unary(FToF, a, 64, 0);
        graph.unary(SToF, other, width, 0);
        graph.unary(UToF, other, width, 0);
    }
    let mut store = MemoryStore::new();
    let values = graph.evaluate(&input);
    let mut labels: Vec<Label> = Vec::new();
    for (node, width) in &graph.nodes {
        labels.push(match *node {
            Plain::Const(value) => build::constant(&mut store, *width, value),
            Plain::Input(offset) => build::input(&mut store, 0, offset, input[offset as usize]),
            Plain::Unary(op, a, extra) => verbatim::unary(&mut store, op, labels[a], *width, extra),
            Plain::Binary(op, a, b) => verbatim::binary(&mut store, op, labels[a], labels[b]),
            Plain::Ite(c, a, b) => verbatim::ite(&mut store, labels[c], labels[a], labels[b]),
        });
    }
    let fixed: Vec<Label> = (0..INPUTS)
        .map(|offset| {
            let value = build::constant(&mut store, 8, u128::from(input[offset]));
            verbatim::binary(&mut store, Op::Eq, labels[bytes[offset]], value)
        })
        .collect();
    let mut scripts = Vec::new();
    let mut claims = Vec::new();
    for (index, &label) in labels.iter().enumerate() {
        let value = values[index].expect("every value is defined");
        let constant = build::constant(&mut store, graph.width(index), value);
        let equal = verbatim::binary(&mut store, Op::Eq, label, constant);
        let different = verbatim::unary(&mut store, Op::Not, equal, 1, 0);
        for (claim, answer) in [(equal, "sat"), (different, "unsat")] {
            let mut all = fixed.clone();
            all.push(claim);
            scripts.push(smtlib::script(&store, &all));
            claims.push((print(&store, label), answer));
        }
    }
    let answers = z3(&scripts);
    assert_eq!(answers.len(), claims.len());
    for (actual, (claim, expected)) in answers.iter().zip(&claims) {
        assert_eq!(actual, expected, "{claim}");
    }
}

#[test]
#[ignore = "needs z3"]
fn table_reads_have_their_bytes_in_smtlib() {
    let mut store = MemoryStore::new();
    let index = build::input(&mut store, 0, 0, 2);
    let symbolic = build::input(&mut store, 0, 1, 9);
    let wide = build::sext(&mut store, symbolic, 32);
    let contents = [10, 20, 30, 9, 50, 50, 50, 0];
    let table = store.add_table(
        0x1000,
        &contents,
        Some(&[0, 0, 0, symbolic << 4, 0, 0, 0, wide << 4 | 1]),
    );
    let object = build::object(&mut store, 0, 0x1000);
    let offset = build::zext(&mut store, index, 64);
    let address = build::add(&mut store, object, offset);
    let read = build::table(&mut store, address, table, 8, 30);
    let mut scripts = Vec::new();
    let expected = [10u128, 20, 30, 200, 50, 50, 50, 0xff];
    let given = build::constant(&mut store, 8, 200);
    let given = verbatim::binary(&mut store, Op::Eq, symbolic, given);
    for (position, value) in expected.iter().enumerate() {
        let position = build::constant(&mut store, 8, position as u128);
        let at = verbatim::binary(&mut store, Op::Eq, index, position);
        let value = build::constant(&mut store, 8, *value);
        let equal = verbatim::binary(&mut store, Op::Eq, read, value);
        let different = verbatim::unary(&mut store, Op::Not, equal, 1, 0);
        scripts.push(smtlib::script(&store, &[given, at, different]));
    }
    assert_eq!(store.node(read).lo, 30);
    assert_eq!(z3(&scripts), vec!["unsat"; expected.len()]);
}
