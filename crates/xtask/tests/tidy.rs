//! The rules of `xtask tidy` hold in this checkout.

#[test]
fn the_checkout_is_tidy() {
    let problems = xtask::tidy::check(&xtask::root()).unwrap();
    assert!(problems.is_empty(), "\n{}", problems.join("\n"));
}
