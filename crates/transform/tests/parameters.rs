//! Parameters that depend on each other.

#[test]
fn a_choice_between_two_directions_is_no_cycle() {
    let text = "parameter Boolean use_T = true
        parameter Real h = if use_T then 4*T else 8
        parameter Real T = if use_T then 2 else h/4
        Real x
        x = h + T";
    let model = dae::testing::model(text).unwrap();
    let schedule = transform::transform(model, &transform::Options::default()).map_err(|all| all[0].message.clone());
    assert!(schedule.is_ok(), "{:?}", schedule.err());
}

#[test]
fn a_true_cycle_is_shown() {
    let model = dae::testing::model("parameter Real a = b + 1\nparameter Real b = 2*a\nReal x\nx = a").unwrap();
    let message = transform::transform(model, &transform::Options::default()).err().unwrap()[0].message.clone();
    assert_eq!(message, "parameters depend on each other: b → a → b");
}
