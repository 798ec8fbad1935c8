//! The self-check finds what is wrong, and only that.

use std::path::PathBuf;
use std::time::SystemTime;

use parallax_abi::trace::{Mismatch, SourceKind};

use super::*;
use crate::sample::Sample;

fn actual() -> ActualInput {
    ActualInput {
        args: vec!["Ab".into()],
        stdin: Some(b"xyz".to_vec()),
        environment: vec![("HOME".into(), "/r".into())],
        objects: vec![vec![7]],
        directory: PathBuf::from("/"),
        started: SystemTime::now(),
    }
}

fn check_sample(sample: Sample) -> Summary {
    check(&sample.finish(), &actual())
}

/// `argv[1][0]` with the value that it really has.
fn first_byte(sample: &Sample) -> u32 {
    let argument = sample.source(SourceKind::Argument, 1);
    sample.node(Op::Input, 8, &[argument, 0], 65)
}

#[test]
fn a_right_trace_has_no_faults_and_says_what_was_checked() {
    let sample = Sample::new();
    let byte = first_byte(&sample);
    let stdin = sample.source(SourceKind::Stdin, 0);
    let other = sample.node(Op::Input, 8, &[stdin, 2], u64::from(b'z'));
    let nul = sample.node(Op::Input, 8, &[0, 2], 0);
    let sum = sample.node(Op::Add, 8, &[byte, other], u64::from(65 + b'z'));
    let wide = sample.node(Op::ZExt, 32, &[sum], u64::from(65 + b'z'));
    let low = sample.node(
        Op::Extract,
        4,
        &[wide, 0, 1],
        u64::from(65 + b'z') >> 1 & 15,
    );
    let pair = sample.node(
        Op::Concat,
        12,
        &[low, nul],
        (u64::from(65 + b'z') >> 1 & 15) << 8,
    );
    let zero = sample.node(Op::Const, 12, &[], 0);
    let equal = sample.node(Op::Eq, 1, &[pair, zero], 0);
    sample.node(Op::Ite, 8, &[equal, byte, other], u64::from(b'z'));
    sample.event(EventKind::Branch, equal, 0, 5, 0, 0);
    let summary = check_sample(sample);
    assert_eq!(summary.faults, []);
    assert_eq!((summary.nodes, summary.inputs, summary.events), (10, 3, 1));
    assert_eq!(summary.unchecked_inputs, 0);
}

#[test]
fn a_wrong_value_is_found_where_it_arises_and_only_there() {
    let sample = Sample::new();
    let byte = first_byte(&sample);
    let one = sample.node(Op::Const, 8, &[], 1);
    let wrong = sample.node(Op::Add, 8, &[byte, one], 67);
    let user = sample.node(Op::ZExt, 32, &[wrong], 67);
    let limit = sample.node(Op::Const, 32, &[], 70);
    let less = sample.node(Op::Ult, 1, &[user, limit], 1);
    let unrelated = sample.node(Op::Eq, 1, &[byte, one], 0);
    sample.event(EventKind::Branch, unrelated, 0, 4, 0, 0);
    sample.event(EventKind::Branch, less, 1, 5, 0, 0);
    let summary = check_sample(sample);
    let fault = Fault {
        what: What::Node,
        label: wrong,
        site: Some(SiteId(5)),
        op: Some(Op::Add),
        expected: Some(66),
        actual: 67,
    };
    assert_eq!(summary.faults, [fault]);
}

#[test]
fn input_that_the_program_was_not_given_is_found() {
    let sample = Sample::new();
    let argument = sample.source(SourceKind::Argument, 1);
    sample.node(Op::Input, 8, &[argument, 0], 66);
    sample.node(Op::Input, 8, &[argument, 9], 66);
    let absent = sample.source(SourceKind::Argument, 2);
    sample.node(Op::Input, 8, &[absent, 0], 66);
    let summary = check_sample(sample);
    let seen: Vec<_> = summary
        .faults
        .iter()
        .map(|fault| (fault.what, fault.expected, fault.actual))
        .collect();
    assert_eq!(seen, [(What::Input, Some(65), 66), (What::Input, None, 66)]);
    assert_eq!(summary.unchecked_inputs, 1);
}

#[test]
fn a_branch_against_its_condition_is_found() {
    let sample = Sample::new();
    let byte = first_byte(&sample);
    let capital = sample.node(Op::Const, 8, &[], 65);
    let equal = sample.node(Op::Eq, 1, &[byte, capital], 1);
    sample.event(EventKind::Branch, equal, 0, 5, 0, 0);
    sample.event(EventKind::Load, byte, 1, 6, 0, 66);
    let summary = check_sample(sample);
    let seen: Vec<_> = summary
        .faults
        .iter()
        .map(|fault| (fault.what, fault.site, fault.expected, fault.actual))
        .collect();
    assert_eq!(
        seen,
        [
            (What::Branch, Some(SiteId(5)), Some(1), 0),
            (What::Address, Some(SiteId(6)), Some(65), 66)
        ]
    );
}

#[test]
fn a_switch_must_be_on_the_value_of_its_expression() {
    let sample = Sample::new();
    let byte = first_byte(&sample);
    sample.event(EventKind::Switch, byte, 0, 5, 0, 65);
    sample.event(EventKind::Switch, byte, 0, 5, 0, 64);
    let summary = check(&sample.finish(), &actual());
    let seen: Vec<_> = summary
        .faults
        .iter()
        .map(|fault| (fault.what, fault.expected, fault.actual))
        .collect();
    assert_eq!(seen, [(What::Switch, Some(65), 64)]);
}

#[test]
fn table_reads_are_checked_against_bytes_and_their_labels() {
    let sample = Sample::new();
    let byte = first_byte(&sample);
    let index = sample.node(Op::ZExt, 64, &[byte], 65);
    let right = sample.table(64, &[1, 2, 65, 4], &[0, 0, byte << 4, 0]);
    sample.node(Op::Table, 16, &[index, right], 65 << 8 | 2);
    let wrong = sample.table(64, &[1, 66, 3, 4], &[0, byte << 4, 0, 0]);
    let table = sample.node(Op::Table, 8, &[index, wrong], 66);
    let outside = sample.table(0, &[1], &[0]);
    let beyond = sample.node(Op::Table, 8, &[index, outside], 1);
    let summary = check_sample(sample);
    let labels: Vec<_> = summary.faults.iter().map(|fault| fault.label).collect();
    assert_eq!(labels, [table, beyond]);
}

#[test]
fn what_the_runtime_found_is_reported_too() {
    let sample = Sample::new();
    let byte = first_byte(&sample);
    sample.mismatch(Mismatch {
        site: 9,
        label: byte,
        op: Op::Add as u32,
        expected_lo: 65,
        expected_hi: 0,
        actual_lo: 64,
        actual_hi: 1,
    });
    let summary = check_sample(sample);
    let fault = Fault {
        what: What::Operand,
        label: byte,
        site: Some(SiteId(9)),
        op: Some(Op::Add),
        expected: Some(65),
        actual: 64 | 1 << 64,
    };
    assert_eq!((summary.faults, summary.fault_count), (vec![fault], 1));
}
