//! Some hundred random models of each family, always the same ones.

use oracles::FAMILIES;

const SEED: u64 = 20_240_229;

#[test]
fn random_models_agree_with_their_oracles() {
    let mut wrong = String::new();
    for family in FAMILIES {
        for number in 0..family.tested {
            let case = family.case(SEED, number);
            if let Err(said) = case.check() {
                wrong += &format!("{} {number}: {said}\n{}\n", family.name, case.text);
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}
