//! `gyrator translate`: files of other languages as Modelica text.
#![allow(clippy::unwrap_used)]

mod common;

use common::{Folder, gyrator};
use expect_test::expect;

const BALL: &str = "{ A ball falls. }
model Ball
  parameter g = 9.81
  local Height = 1, Velocity
  der(Height) = Velocity     -- upwards
  der(Velocity) = -g
  when Height <= 0.0 then
    new(Velocity) = -0.7 * Velocity
  endwhen
end
";

#[test]
fn the_text_goes_to_standard_output_or_into_a_file() {
    let folder = Folder::new("translate");
    folder.write("ball.dym", BALL);
    let run = gyrator(&folder, &["translate", "ball.dym", "--to", "modelica"]);
    expect![[r#"
        // A ball falls.
        model Ball
          parameter Real g = 9.81;
          Real Height(start = 1, fixed = true), Velocity;
        equation
          der(Height) = Velocity; // upwards
          der(Velocity) = -g;
          when Height <= 0.0 then
            reinit(Velocity, -0.7 * pre(Velocity));
          end when;
        end Ball;
    "#]]
    .assert_eq(&run.stdout);
    assert_eq!((run.status, run.stderr.as_str()), (0, ""));

    let run = gyrator(&folder, &["translate", "ball.dym", "--output", "ball.mo"]);
    assert_eq!((run.status, run.stdout.as_str()), (0, ""));
    let (listing, made) = (gyrator(&folder, &["check", "ball.dym"]), gyrator(&folder, &["check", "ball.mo"]));
    assert_eq!((listing.status, &listing.stdout), (0, &made.stdout), "{}", listing.stderr);
}

#[test]
fn what_is_wrong_is_told_in_its_own_terms() {
    let folder = Folder::new("translate-wrong");
    folder.write("ball.dym", "model Ball\n  local h\n  der(h) = -G\nend\n");
    let run = gyrator(&folder, &["translate", "ball.dym"]);
    expect![[r#"
        error[unknown-name]: there is no variable `G` in `Ball`
          --> ball.dym:3:13
           |
         3 |   der(h) = -G
           |             ^ not found
           = see: the Dymola language of 1993, docs/dymola-1993.md, “Variables”
           = help: declare it: `local G`
    "#]]
    .assert_eq(&run.stderr);
    assert_eq!((run.status, run.stdout.as_str()), (1, ""));
}

#[test]
fn only_other_languages_are_translated() {
    let folder = Folder::new("translate-call");
    folder.write("ball.mo", "model Ball end Ball;");
    let run = gyrator(&folder, &["translate", "ball.mo"]);
    assert_eq!(
        (run.status, run.stderr.as_str()),
        (2, "error: `ball.mo` is in no other language; files to translate end in `.bond`, `.dym`\n")
    );
    let run = gyrator(&folder, &["translate", "nowhere.dym"]);
    assert_eq!((run.status, run.stderr.as_str()), (2, "error: there is no file `nowhere.dym`\n"));
}
