//! Compiles the C++ part with LLVM's own headers.

use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=src/pass.cpp");
    println!("cargo::rerun-if-env-changed=PARALLAX_LLVM_CONFIG");
    let config =
        std::env::var("PARALLAX_LLVM_CONFIG").unwrap_or_else(|_| "llvm-config-19".to_owned());
    let output = Command::new(&config)
        .arg("--includedir")
        .output()
        .unwrap_or_else(|error| panic!("{config}: {error} (apt-get install llvm-19-dev)"));
    let include = String::from_utf8(output.stdout).expect("llvm-config prints a path");
    cc::Build::new()
        .cpp(true)
        .compiler("clang++-19")
        .std("c++17")
        .include(include.trim())
        .flag("-fno-rtti")
        .flag("-fno-exceptions")
        .define("NDEBUG", None)
        .warnings(false)
        .file("src/pass.cpp")
        .compile("parallax_pass");
}
