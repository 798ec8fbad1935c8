//! Builds what the binary carries: the plug-in, the runtime and the models.
//!
//! They cannot be ordinary dependencies. The plug-in is a shared library for another
//! process; the runtime is a static library for other programs, built without
//! the standard library. So cargo is called again for each, in a target
//! directory of its own (the outer cargo holds the lock of the usual one) that all
//! profiles share: changing between debug and release builds nothing twice.

use std::ffi::OsStr;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

fn main() {
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    let manifest = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it"));
    let root = manifest
        .ancestors()
        .nth(2)
        .expect("crates/bundle is two levels down");
    let crates = root.join("crates");
    // target/<profile>/build/<package>/out
    let target = out
        .ancestors()
        .nth(4)
        .expect("OUT_DIR is below the target directory");
    let nested = target.join("nested");

    println!("cargo::rerun-if-changed=build.rs");
    for source in [
        "abi/src",
        "expr/src",
        "instrument/build.rs",
        "instrument/src",
        "plugin/build.rs",
        "plugin/src",
        "record/src",
        "runtime/build.rs",
        "runtime/coverage",
        "runtime/declared",
        "runtime/models",
        "runtime/src",
        "serve/src",
    ] {
        let path = crates.join(source);
        // A path that does not exist would make the script run at every build.
        if path.exists() {
            println!("cargo::rerun-if-changed={}", path.display());
        }
    }

    let mut assets = vec![
        ("plugin.so".to_owned(), build_plugin(root, &nested)),
        ("libruntime.a".to_owned(), build_runtime(root, &nested)),
        ("serve.so".to_owned(), build_server(root, &nested)),
    ];
    let compiler = env::var_os("PARALLAX_CLANG").unwrap_or_else(|| "clang-19".into());
    println!("cargo::rerun-if-env-changed=PARALLAX_CLANG");
    for source in c_sources(&crates.join("runtime/models")) {
        let name = format!("models/{}.bc", stem(&source));
        assets.push((name, build_model(&compiler, &source, &out)));
    }
    for source in c_sources(&crates.join("runtime/coverage")) {
        let name = format!("coverage/{}.o", stem(&source));
        assets.push((name, build_coverage(&compiler, &source, &out)));
    }

    let declared = crates.join("runtime/declared");
    assets.push((
        "libdeclared.a".to_owned(),
        build_declared(&compiler, &declared, &out),
    ));
    for (name, file) in [
        ("include/klee/klee.h", "include/klee/klee.h"),
        ("include/parallax.h", "include/parallax.h"),
        ("fuzzer/main.c", "fuzzer.c"),
    ] {
        assets.push((name.to_owned(), read(&declared.join(file))));
    }

    write_assets(&out, &assets);
}

/// A cargo that does not know that it runs inside of cargo.
fn cargo(root: &Path, nested: &Path) -> Command {
    let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.current_dir(root).env("CARGO_TARGET_DIR", nested);
    // Clippy's and coverage tools' wrappers and flags are meant for the outer build.
    for variable in [
        "CARGO_ENCODED_RUSTFLAGS",
        "RUSTC_WORKSPACE_WRAPPER",
        "RUSTFLAGS",
        "CARGO_BUILD_TARGET",
        "RUSTC",
        "CARGO_PRIMARY_PACKAGE",
    ] {
        cargo.env_remove(variable);
    }
    cargo
}

fn build_plugin(root: &Path, nested: &Path) -> Vec<u8> {
    run(cargo(root, nested)
        .args(["build", "--locked", "-p", "parallax-plugin"])
        .args(["--profile", "plugin", "--quiet"]));
    read(&nested.join("plugin/libparallax_plugin.so"))
}

fn build_runtime(root: &Path, nested: &Path) -> Vec<u8> {
    run(cargo(root, nested)
        .args([
            "rustc",
            "--locked",
            "-p",
            "parallax-runtime",
            "--profile",
            "runtime",
        ])
        .args([
            "--features",
            "freestanding",
            "--crate-type",
            "staticlib",
            "--quiet",
        ]));
    read(&nested.join("runtime/libparallax_runtime.a"))
}

/// The run server as a shared object of its own: it needs no library, because it finds what it calls in those of the program.
fn build_server(root: &Path, nested: &Path) -> Vec<u8> {
    run(cargo(root, nested)
        .args(["rustc", "--locked", "-p", "parallax-serve"])
        .args(["--profile", "runtime", "--features", "preload"])
        .args(["--crate-type", "cdylib", "--quiet", "--"])
        .args(["-C", "link-arg=-nostdlib", "-C", "strip=symbols"]));
    read(&nested.join("runtime/libparallax_serve.so"))
}

/// Models written in C are traced like the program itself, so they are carried as
/// bitcode of the front end.
fn build_model(compiler: &OsStr, source: &Path, out: &Path) -> Vec<u8> {
    let output = out.join(format!("{}.bc", stem(source)));
    // As any library's code may be linked into anything: position independent. Builtins off, because
    // a model's loop over bytes must not become a call of the function that it models.
    run(Command::new(compiler)
        .args([
            "-c",
            "-emit-llvm",
            "-g",
            "-O2",
            "-Xclang",
            "-disable-llvm-passes",
        ])
        .args(
            [
                "-fPIC",
                "-ffreestanding",
                "-fno-builtin",
                "-ffile-prefix-map",
            ]
            .map(flag_for_root),
        )
        .arg(source)
        .arg("-o")
        .arg(&output));
    read(&output)
}

fn build_coverage(compiler: &OsStr, source: &Path, out: &Path) -> Vec<u8> {
    let output = out.join(format!("{}.o", stem(source)));
    run(Command::new(compiler)
        .args(["-c", "-O2", "-fPIC"])
        .arg(source)
        .arg("-o")
        .arg(&output));
    read(&output)
}

/// The functions of other tools for programs that are not traced: an archive, so that programs get only what they
/// ask for.
fn build_declared(compiler: &OsStr, directory: &Path, out: &Path) -> Vec<u8> {
    let archive = out.join("libdeclared.a");
    let _ = fs::remove_file(&archive);
    let mut archiver = Command::new("ar");
    archiver.arg("qcsD").arg(&archive);
    for name in ["objects", "klee", "verifier"] {
        let object = out.join(format!("declared-{name}.o"));
        run(Command::new(compiler)
            .args(["-c", "-O2", "-fPIC", "-ffunction-sections"])
            .arg(directory.join(name).with_extension("c"))
            .arg("-o")
            .arg(&object));
        archiver.arg(object);
    }
    run(&mut archiver);
    read(&archive)
}

/// Completes `-ffile-prefix-map`, so that no file of the build machine is named in what it made.
fn flag_for_root(flag: &str) -> String {
    if flag == "-ffile-prefix-map" {
        let manifest = env::var("CARGO_MANIFEST_DIR").expect("cargo sets it");
        let crates = Path::new(&manifest).parent().expect("crates/bundle");
        format!("{flag}={}=parallax", crates.display())
    } else {
        flag.to_owned()
    }
}

fn c_sources(directory: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(directory) else {
        return Vec::new();
    };
    let mut sources: Vec<PathBuf> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension() == Some(OsStr::new("c")))
        .collect();
    sources.sort();
    sources
}

fn stem(path: &Path) -> String {
    path.file_stem()
        .expect("a source has a name")
        .to_string_lossy()
        .into_owned()
}

/// Compresses everything and writes the Rust table that includes it.
fn write_assets(out: &Path, assets: &[(String, Vec<u8>)]) {
    let mut hasher = blake3::Hasher::new();
    let mut table = String::from("const ASSETS: &[Asset] = &[\n");
    for (index, (name, bytes)) in assets.iter().enumerate() {
        hasher
            .update(name.as_bytes())
            .update(&(bytes.len() as u64).to_le_bytes())
            .update(bytes);
        let file = out.join(format!("asset-{index}.zst"));
        let compressed = zstd::stream::encode_all(bytes.as_slice(), 19).expect("in memory");
        fs::write(&file, compressed).expect("OUT_DIR is writable");
        let _ = writeln!(
            table,
            "    Asset {{ name: {name:?}, size: {}, compressed: include_bytes!({file:?}) }},",
            bytes.len()
        );
    }
    let hash = hasher.finalize().to_hex();
    let _ = writeln!(table, "];\nconst HASH: &str = {:?};", &hash.as_str()[..16]);
    fs::write(out.join("assets.rs"), table).expect("OUT_DIR is writable");
}

fn run(command: &mut Command) {
    let status = command
        .status()
        .unwrap_or_else(|error| panic!("{command:?}: {error}"));
    assert!(status.success(), "{command:?}: {status}");
}

fn read(path: &Path) -> Vec<u8> {
    fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}
