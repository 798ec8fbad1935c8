//! The models in Rust as a program calls them. (What models compute is compared with libc by
//! `parallax-torture models`.)

mod support;

use parallax_abi::trace::*;
use std::sync::atomic::Ordering::Relaxed;
use support::{Region, program};

const ALL: u32 = flags::ARGV | flags::STDIN | flags::FILES | flags::SELF_CHECK;

#[test]
fn labels_follow_bytes_through_models_signals_threads_and_variable_arguments() {
    let program = program("labels", "", &[]);
    let region = Region::new(ALL);
    let input: Vec<u8> = (1..=256u32).map(|n| (n * 7 % 251) as u8).collect();
    let output = region.run(&program, &[], &input);
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    assert!(output.status.success(), "{}", output.status);
    assert_eq!(region.header().stop.load(Relaxed), 0);

    // `mistakes`: one operand that differs from its label, reported as a mismatch.
    let mismatches: Vec<u64> = region
        .mismatches()
        .iter()
        .map(|mismatch| mismatch.site)
        .collect();
    assert_eq!(mismatches, [41]);
    let of_site = |site| {
        region
            .events()
            .into_iter()
            .filter(move |event| event.site == site)
    };
    assert_eq!(
        of_site(43).map(|e| e.kind).collect::<Vec<_>>(),
        [EventKind::Division as u8]
    );
    assert_eq!(
        of_site(44).map(|e| e.kind).collect::<Vec<_>>(),
        [EventKind::Overflow as u8]
    );
    let overflow = of_site(44).next().expect("just seen");
    assert_eq!(overflow.y, 32 | 9 << 8);
    let losses = region.losses();
    let lost = |kind: LossKind, name: &str| {
        losses
            .iter()
            .filter(|loss| loss.0 == kind as u32 && loss.1 == name)
            .map(|loss| loss.2)
            .sum::<u32>()
    };
    assert_eq!(lost(LossKind::Undefined, ""), 1);
    assert_eq!(lost(LossKind::Call, "nobody"), 1);

    // `tables`: a global and a table of libc, with bounds, and their contents once.
    let objects = region.objects();
    let described: Vec<(u32, u64, String)> = objects
        .iter()
        .map(|object| {
            (
                object.kind,
                object.size,
                region.text(object.name, object.name_length),
            )
        })
        .collect();
    assert!(
        described.contains(&(ObjectKind::Global as u32, 20, "squares".into())),
        "{described:?}"
    );
    assert!(described.contains(&(ObjectKind::Library as u32, 768, String::new())));
    assert_eq!(
        region
            .tables()
            .iter()
            .map(|table| table.length)
            .collect::<Vec<_>>(),
        [20, 768]
    );
    assert_eq!(
        of_site(21).map(|e| e.kind).collect::<Vec<_>>(),
        [EventKind::Load as u8]
    );

    // `contexts`: the branch happened one call below the root.
    let branch = of_site(53).next().expect("a branch");
    let context = region.context(branch.context);
    assert_eq!((context.parent, context.site), (1, 51));
}

#[test]
fn a_program_with_its_own_allocator_links_and_runs_in_every_form() {
    let kinds: [(&str, &[&str]); 3] = [
        ("", &[]),
        ("-static", &["-static"]),
        ("-no-pie", &["-no-pie", "-fno-pie"]),
    ];
    for (variant, link) in kinds {
        let program = program("allocator", variant, link);
        let region = Region::new(ALL);
        let output = region.run(&program, &[], b"12345678");
        assert_eq!(
            String::from_utf8_lossy(&output.stdout),
            "1 calls, labelled\n",
            "{variant}"
        );
        assert!(output.status.success());
    }
}

#[test]
fn a_relink_can_map_a_model_back_to_the_program() {
    let program = program(
        "allocator",
        "-mapped",
        &["-Wl,--defsym=__plx_m_malloc=malloc"],
    );
    let region = Region::new(ALL);
    assert!(region.run(&program, &[], b"12345678").status.success());
}
