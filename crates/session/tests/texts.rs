//! Texts that are known during the run.

mod common;

use common::simulate;

#[test]
fn texts_are_ordered_by_their_characters() {
    let result = simulate(
        "model M
          function least
            input String a;
            input String b;
            output String y;
          algorithm
            y := if a < b then a else b;
          end least;
          parameter Integer n = 3;
          parameter Boolean p = String(n) > \"20\";
          String s(start = \"abc\", fixed = true);
          Boolean less = s < \"abd\";
          Boolean less_equal = s <= \"abb\";
          Boolean greater = s > \"ab\";
          Boolean greater_equal = s >= \"abcd\";
          Boolean by_function = least(s, \"b\") == s;
          Integer chosen = if s < \"B\" then 1 elseif s < \"a\" + String(n) then 2 else 3;
        equation
          when time >= 0.5 then
            s = \"ab\" + String(n);
          end when;
        end M;",
        1.0,
    );
    let expected = [
        ("p", [1.0, 1.0]),
        ("less", [1.0, 1.0]),
        ("less_equal", [0.0, 1.0]),
        ("greater", [1.0, 1.0]),
        ("greater_equal", [0.0, 0.0]),
        ("by_function", [1.0, 1.0]),
        ("chosen", [3.0, 3.0]),
    ];
    for (name, [first, last]) in expected {
        assert_eq!(result.at(name, 0.2), Some(first), "{name} at the start");
        assert_eq!(result.last(name), Some(last), "{name} at the end");
    }
}
