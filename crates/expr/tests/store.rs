//! Stores, assembling from memory, evaluation of deep expressions, text round trips.

mod common;

use parallax_expr::build::{self, FloatPredicate};
use parallax_expr::sexpr::{Construction, ParseError, parse, print};
use parallax_expr::{Evaluator, Label, MemoryStore, Op, Recorded, Store, value};

#[test]
fn equal_nodes_have_one_label() {
    let mut store = MemoryStore::new();
    let a = build::input(&mut store, 0, 1 << 40, 7);
    assert_eq!(build::input(&mut store, 0, 1 << 40, 9), a);
    assert_ne!(build::input(&mut store, 0, 1 << 41, 7), a);
    let constants: Vec<Label> = [(8, 1), (16, 1), (128, 1 << 64)]
        .map(|(w, v)| build::constant(&mut store, w, v))
        .to_vec();
    assert_eq!(build::constant(&mut store, 8, 0x101), constants[0]);
    assert!(constants[0] != constants[1] && constants[1] != constants[2]);
}

#[test]
fn depth_is_the_longest_path_to_a_leaf_and_saturates() {
    let mut store = MemoryStore::new();
    let x = build::input(&mut store, 0, 0, 3);
    assert_eq!(store.node(x).depth, 0);
    let mut label = x;
    for count in 1..70_000u32 {
        let op = if count % 2 == 0 { Op::Mul } else { Op::Xor };
        let y = build::input(&mut store, 0, u64::from(count % 9) + 1, 1);
        label = build::binary(&mut store, op, label, y);
        assert_eq!(
            u32::from(store.node(label).depth),
            count.min(u32::from(u16::MAX))
        );
    }
}

#[test]
fn a_full_store_gives_nothing_and_nothing_is_built_from_nothing() {
    let text = "(let ((b (input 0 0)) (c (input 0 1))) (eq (or (shl (zext 32 b) 8:32) (zext 32 c)) (add (sext 32 b) 5:32)))";
    let mut store = MemoryStore::new();
    parse(&mut store, text, Construction::Canonical).expect("it fits");
    for limit in 0..store.len() {
        let mut small = MemoryStore::with_limit(limit);
        assert_eq!(
            parse(&mut small, text, Construction::Canonical),
            Err(ParseError::NotBuilt)
        );
    }
    let one = build::constant(&mut store, 8, 1);
    assert_eq!(build::binary(&mut store, Op::Add, 0, one), 0);
    assert_eq!(build::ite(&mut store, one, 0, one), 0);
    assert_eq!(build::unary(&mut store, Op::Not, 0, 0, 0), 0);
}

#[test]
fn a_conversion_without_value_is_not_built() {
    let mut store = MemoryStore::new();
    let byte = build::input(&mut store, 0, 0, 0x7f);
    let zeros = build::constant(&mut store, 24, 0);
    let huge = build::concat(&mut store, byte, zeros);
    assert_eq!(build::unary(&mut store, Op::FToS, huge, 32, 0), 0);
    assert_ne!(build::unary(&mut store, Op::FToU, huge, 128, 0), 0);
}

#[test]
fn what_was_stored_to_memory_is_what_is_loaded() {
    let mut store = MemoryStore::new();
    let b = build::input(&mut store, 0, 0, 5);
    let c = build::input(&mut store, 0, 1, 6);
    let wide = build::zext(&mut store, b, 32);
    let four = build::constant(&mut store, 32, 4);
    let sum = build::add(&mut store, wide, four);
    let word = |label: Label, byte: u32| label << 4 | byte;
    let whole = [0, 1, 2, 3].map(|byte| word(sum, byte));
    assert_eq!(build::bytes(&mut store, &whole, &[9, 0, 0, 0]), sum);
    let mixed = build::bytes(
        &mut store,
        &[word(c, 0), 0, word(sum, 0), word(sum, 1)],
        &[6, 7, 9, 0],
    );
    assert_eq!(value(&store.node(mixed)), 0x0009_0706);
    assert_eq!(store.node(mixed).width, 32);
    let concrete = build::bytes(&mut store, &[0, 0], &[0x34, 0x12]);
    assert_eq!(print(&store, concrete), "0x1234:16");
    let bit = build::eq(&mut store, b, c);
    let flag = build::bytes(&mut store, &[word(bit, 0)], &[0]);
    assert_eq!(store.node(flag).width, 8);
}

#[test]
fn expressions_as_deep_as_a_trace_allows_are_evaluated() {
    let mut store = MemoryStore::new();
    let x = build::input(&mut store, 0, 0, 3);
    let y = build::input(&mut store, 0, 1, 5);
    let mut label = x;
    let (mut here, mut there) = (3u8, 11u8);
    for _ in 0..60_000 {
        label = build::binary(&mut store, Op::Mul, label, x);
        label = build::binary(&mut store, Op::Sub, label, y);
        here = here.wrapping_mul(3).wrapping_sub(5);
        there = there.wrapping_mul(11).wrapping_sub(13);
    }
    assert_eq!(
        Evaluator::new(&store, Recorded).value(label),
        Some(u128::from(here))
    );
    let mut evaluator = Evaluator::new(&store, |_, offset: u64| Some([11, 13][offset as usize]));
    assert_eq!(evaluator.value(label), Some(u128::from(there)));
    let text = print(&store, label);
    assert_eq!(parse(&mut store, &text, Construction::Canonical), Ok(label));
}

#[test]
fn tables_are_read_where_the_input_says() {
    let mut store = MemoryStore::new();
    let index = build::input(&mut store, 0, 0, 1);
    let inside = build::input(&mut store, 0, 1, 77);
    let table = store.add_table(0x1000, &[10, 77, 30, 40], Some(&[0, inside << 4, 0, 0]));
    let base = build::object(&mut store, 0, 0x1000);
    let offset = build::zext(&mut store, index, 64);
    let address = build::add(&mut store, base, offset);
    let read = build::table(&mut store, address, table, 16, 30 << 8 | 77);
    let at = |position: u8| {
        let mut evaluator = Evaluator::new(&store, move |_, offset: u64| {
            Some([position, 99][offset as usize])
        });
        evaluator.value(read)
    };
    assert_eq!(
        Evaluator::new(&store, Recorded).value(read),
        Some(30 << 8 | 77)
    );
    assert_eq!(at(0), Some(99 << 8 | 10));
    assert_eq!(at(2), Some(40 << 8 | 30));
    assert_eq!(at(3), None, "one byte is outside");
    assert_eq!(at(200), None);
}

#[test]
fn all_float_predicates_compare_as_llvm_defines_them() {
    let values = [1.0f32, 2.0, f32::NAN, -0.0, 0.0];
    for a in values {
        for b in values {
            let mut store = MemoryStore::new();
            let symbolic = |store: &mut MemoryStore, value: f32, at: u64| {
                let bytes = value.to_le_bytes();
                let labels: Vec<u32> = (0..4)
                    .map(|i| build::input(store, 0, at + i as u64, bytes[i]) << 4)
                    .collect();
                build::bytes(store, &labels, &bytes)
            };
            let x = symbolic(&mut store, a, 0);
            let y = symbolic(&mut store, b, 4);
            for (number, predicate) in FloatPredicate::ALL.into_iter().enumerate() {
                assert_eq!(FloatPredicate::from_number(number as u32), Some(predicate));
                // LLVM's numbers are sets: 1 equal, 2 greater, 4 less, 8 unordered.
                let outcome = match a.partial_cmp(&b) {
                    Some(std::cmp::Ordering::Equal) => 1,
                    Some(std::cmp::Ordering::Greater) => 2,
                    Some(std::cmp::Ordering::Less) => 4,
                    None => 8,
                };
                let label = build::fcmp(&mut store, predicate, x, y);
                let expected = u64::from(number & outcome != 0);
                assert_eq!(
                    store.node(label).lo,
                    expected,
                    "{predicate:?} of {a} and {b}"
                );
            }
        }
    }
}

#[test]
fn text_forms_are_read_back_to_the_same_label() {
    for text in [
        "(add (input 0 3 65) 0x5:8)",
        "(table 2 16 0x1234 (add (object 7 0x1000) (zext 64 (input 1 4294967296 0))))",
        "(ite (eq (input 0 0 1) (input 0 1 2)) (ftos 32 (fround 3 (utof 80 (input 0 0 1)))) 0x7:32)",
        "(extract 3 7 (bswap (concat (input 0 0 1) (concat (input 0 1 2) 0x80:8))))",
        "(let ((n3 (mul (input 0 0 9) (input 0 1 9)))) (sub (udiv n3 0x3:8) (not n3)))",
    ] {
        let mut store = MemoryStore::new();
        let label = parse(&mut store, text, Construction::Verbatim).expect("a valid expression");
        let printed = print(&store, label);
        assert_eq!(
            parse(&mut store, &printed, Construction::Verbatim),
            Ok(label),
            "{printed}"
        );
        assert_eq!(printed, text);
    }
}

#[test]
fn malformed_text_is_refused() {
    let mut store = MemoryStore::new();
    let mut refuse = |text: &str| parse(&mut store, text, Construction::Canonical).expect_err(text);
    assert_eq!(refuse("(add 1:8"), ParseError::UnexpectedEnd);
    assert_eq!(refuse("(add 1:8 1:16)"), ParseError::BadOperands("add"));
    assert_eq!(
        refuse("(extract 4 8 1:8)"),
        ParseError::BadOperands("extract")
    );
    assert_eq!(
        refuse("(frob 1:8)"),
        ParseError::UnknownOperator("frob".to_owned())
    );
    assert_eq!(refuse("x"), ParseError::UnknownName("x".to_owned()));
    assert_eq!(refuse("256:8"), ParseError::BadNumber("256:8".to_owned()));
    assert_eq!(refuse("1:8 2:8"), ParseError::Unexpected("2:8".to_owned()));
    assert_eq!(refuse(&"(not ".repeat(2000)), ParseError::TooDeep);
}
