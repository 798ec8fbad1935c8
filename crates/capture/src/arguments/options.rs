//! What is known about single options: which take a value, and which still
//! matter when the same source or its bitcode is compiled once more.

use super::Item;

/// Options whose value may be the next word. Those that can also be written
/// joined (`-Idir`) take the next word only when they stand alone.
const WITH_VALUE: &[&str] = &[
    "--analyzer-output",
    "--config",
    "--language",
    "--param",
    "--prefix",
    "--serialize-diagnostics",
    "--sysroot",
    "--target",
    "-A",
    "-B",
    "-D",
    "-F",
    "-G",
    "-I",
    "-L",
    "-MF",
    "-MJ",
    "-MQ",
    "-MT",
    "-T",
    "-Tbss",
    "-Tdata",
    "-Ttext",
    "-U",
    "-Xanalyzer",
    "-Xassembler",
    "-Xclang",
    "-Xclangas",
    "-Xopenmp-target",
    "-Xpreprocessor",
    "-arch",
    "-aux-info",
    "-b",
    "-c-isystem",
    "-cxx-isystem",
    "-dependency-dot",
    "-dependency-file",
    "-dumpbase",
    "-dumpdir",
    "-dyld-prefix",
    "-e",
    "-framework",
    "-gcc-install-dir",
    "-gcc-toolchain",
    "-idirafter",
    "-iframework",
    "-imacros",
    "-imultilib",
    "-include",
    "-include-pch",
    "-index-store-path",
    "-iprefix",
    "-iquote",
    "-isysroot",
    "-isystem",
    "-isystem-after",
    "-ivfsoverlay",
    "-iwithprefix",
    "-iwithprefixbefore",
    "-iwithsysroot",
    "-mllvm",
    "-mthread-model",
    "-o",
    "-print-prog-name",
    "-rpath",
    "-resource-dir",
    "-serialize-diagnostics",
    "-specs",
    "-stdlib++-isystem",
    "-target",
    "-u",
    "-working-directory",
    "-x",
    "-z",
];

/// Whether the option's value is the next word.
pub fn takes_value(option: &str) -> bool {
    WITH_VALUE.contains(&option)
}

/// Options under which the source of a compile is compiled again: all but
/// those that say what to make, write files beside it, or instrument it in another way.
pub fn for_source(items: &[Item]) -> Vec<String> {
    let mut kept = Vec::new();
    for item in items {
        if let Item::Option(words) = item
            && !writes_or_selects(&words[0])
        {
            kept.extend_from_slice(words);
        }
    }
    kept
}

/// Whether an option may be given again to a link that makes another file: it neither names the
/// old output, nor writes files beside it, nor takes symbols away.
pub fn for_relink(option: &str) -> bool {
    const UNWANTED: &[&str] = &["-o", "-x", "-v", "-s", "-S", "-c", "-ftime-report"];
    const PREFIXES: &[&str] = &[
        "-M",
        "-Wp,-M",
        "-save-temps",
        "--save-temps",
        "-ftime-trace",
        "-o",
        "-x",
        "--language",
    ];
    !UNWANTED.contains(&option) && !PREFIXES.iter().any(|prefix| option.starts_with(prefix))
}

/// The words of an option without some sanitizers; `None` if nothing is left of it.
pub fn without_sanitizers(option: &[String], unwanted: &[&str]) -> Option<Vec<String>> {
    const NAME: &str = "-fsanitize=";
    let Some(list) = option.first().and_then(|word| word.strip_prefix(NAME)) else {
        return Some(option.to_vec());
    };
    let kept: Vec<&str> = list
        .split(',')
        .filter(|sanitizer| !unwanted.contains(sanitizer))
        .collect();
    (!kept.is_empty()).then(|| vec![format!("{NAME}{}", kept.join(","))])
}

fn writes_or_selects(option: &str) -> bool {
    const EXACT: &[&str] = &[
        "-c",
        "-S",
        "-o",
        "-x",
        "-v",
        "-r",
        "--coverage",
        "-coverage",
        "-fprofile-arcs",
        "-ftest-coverage",
        "-gsplit-dwarf",
        "-ftime-report",
        "-Xlinker",
        "-T",
        "-z",
        "-u",
        "-e",
        "-s",
        "-rdynamic",
        "-pie",
        "-rpath",
        "-shared",
        "-pg",
        "-fsyntax-only",
        "--serialize-diagnostics",
        "-serialize-diagnostics",
    ];
    const PREFIXES: &[&str] = &[
        "-M",
        "-Wp,-M",
        "-Werror",
        "-save-temps",
        "--save-temps",
        "-flto",
        "-ftime-trace",
        "-fsave-optimization-record",
        "-foptimization-record",
        "-fprofile-",
        "-fcs-profile",
        "-Rpass",
        "-L",
        "-fuse-ld",
        "-x",
        "--language",
    ];
    // The C library's checked copies of functions would hide errors from the sanitizers.
    let fortifies = option.contains("_FORTIFY_SOURCE");
    fortifies || EXACT.contains(&option) || PREFIXES.iter().any(|prefix| option.starts_with(prefix))
}

/// Options that the back end still needs when bitcode is compiled again. Most options
/// have left their mark in the bitcode itself.
pub fn for_bitcode(items: &[Item]) -> Vec<String> {
    let mut kept = Vec::new();
    for item in items {
        let Item::Option(words) = item else { continue };
        let option = words[0].as_str();
        let wanted = matches!(
            option,
            "-fPIC"
                | "-fpic"
                | "-fPIE"
                | "-fpie"
                | "-fno-PIC"
                | "-fno-pic"
                | "-fno-PIE"
                | "-fno-pie"
                | "-ffunction-sections"
                | "-fno-function-sections"
                | "-fdata-sections"
                | "-fno-data-sections"
                | "-ffast-math"
                | "-Ofast"
                | "-fno-plt"
                | "-femulated-tls"
                | "-static"
                | "-static-pie"
                | "-shared"
                | "-target"
                | "-B"
        ) || option.starts_with("--target=")
            || option.starts_with("-ffp-")
            || (option.starts_with("-m") && option != "-mthread-model");
        // -Ofast would also set the level, which is not the user's here.
        if wanted && option == "-Ofast" {
            kept.push("-ffast-math".to_owned());
        } else if wanted {
            kept.extend_from_slice(words);
        }
    }
    kept
}
