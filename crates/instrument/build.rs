//! Compiles the small C++ file that supplies what LLVM's C interface lacks.

use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=src/shim.cpp");
    let config = std::env::var("LLVM_CONFIG").unwrap_or_else(|_| "llvm-config-19".into());
    let include = Command::new(&config)
        .arg("--includedir")
        .output()
        .unwrap_or_else(|error| panic!("{config} (package llvm-19-dev) is needed: {error}"));
    let include = String::from_utf8(include.stdout).expect("llvm-config prints UTF-8");
    cc::Build::new()
        .cpp(true)
        .std("c++17")
        .include(include.trim())
        .flag("-fno-rtti")
        .flag("-fno-exceptions")
        .define("_GNU_SOURCE", None)
        .define("__STDC_CONSTANT_MACROS", None)
        .define("__STDC_FORMAT_MACROS", None)
        .define("__STDC_LIMIT_MACROS", None)
        .warnings(false)
        .file("src/shim.cpp")
        .compile("parallax_instrument_shim");
}
