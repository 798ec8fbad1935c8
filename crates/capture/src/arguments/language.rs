//! What a source is written in.

/// What clang takes a file for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// Compiled by way of LLVM's IR: can be captured.
    Compiled,
    /// Assembly: becomes an object without IR.
    Assembly,
    /// A header or anything else that yields no object.
    Header,
    /// For the linker.
    Linked,
}

/// Language (as in `-x`) and content of an input.
pub fn classify(path: &str, language: Option<&str>, cplusplus: bool) -> (String, Content) {
    let named = language.map_or_else(|| of_extension(path, cplusplus), str::to_owned);
    let content = match named.as_str() {
        "" => Content::Linked,
        "assembler" | "assembler-with-cpp" => Content::Assembly,
        "c"
        | "c++"
        | "objective-c"
        | "objective-c++"
        | "cpp-output"
        | "c++-cpp-output"
        | "objective-c-cpp-output"
        | "objective-c++-cpp-output"
        | "ir" => Content::Compiled,
        // Headers, modules, languages of other front ends.
        _ => Content::Header,
    };
    (named, content)
}

fn of_extension(path: &str, cplusplus: bool) -> String {
    let name = path.rsplit('/').next().unwrap_or(path);
    let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension);
    let language = match extension {
        "c" if cplusplus => "c++",
        "c" => "c",
        "i" if cplusplus => "c++-cpp-output",
        "i" => "cpp-output",
        "C" | "cc" | "cp" | "cpp" | "cxx" | "c++" | "CC" | "CPP" | "CXX" | "C++" => "c++",
        "ii" => "c++-cpp-output",
        "m" => "objective-c",
        "mi" => "objective-c-cpp-output",
        "M" | "mm" => "objective-c++",
        "mii" => "objective-c++-cpp-output",
        "s" => "assembler",
        "S" | "sx" | "asm" => "assembler-with-cpp",
        "ll" | "bc" => "ir",
        "h" | "H" | "hh" | "hp" | "hpp" | "hxx" | "h++" | "inl" | "pch" | "gch" => "c-header",
        "cl" | "clcpp" => "cl",
        "cu" => "cuda",
        "hip" => "hip",
        "f" | "F" | "f90" | "F90" | "f95" | "F95" | "for" | "FOR" => "f95",
        "cppm" | "ccm" | "cxxm" | "c++m" | "ixx" | "pcm" => "c++-module",
        _ => "",
    };
    language.to_owned()
}
