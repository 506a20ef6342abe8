//! What a user is told about mistakes.

mod common;

use common::messages;
use expect_test::{Expect, expect};

fn check(text: &str, expected: Expect) {
    expected.assert_eq(&messages(text));
}

#[test]
fn misspelled_kind() {
    check(
        "Ses F = 10\n1 v\nF -> v",
        expect![[r#"
            error[unknown-kind]: `Ses` is no kind of element
              --> graph.bond:1:1
               |
             1 | Ses F = 10
               | ^^^ not known
               = help: did you mean `Se`?
        "#]],
    );
}

#[test]
fn misspelled_name() {
    check(
        "Se force -> 1 v\nR damper = 3\nv -> dampr",
        expect![[r#"
        error[unknown-name]: there is no `dampr`
          --> graph.bond:3:6
           |
         3 | v -> dampr
           |      ^^^^^ not declared
           = help: did you mean `damper`?
    "#]],
    );
}

#[test]
fn several_mistakes_in_one_run() {
    check(
        "Se F = \n1 v v\nR d = 3 +\nF -> v -> d\noutput d.x",
        expect![[r#"
            error[bond-syntax]: expected an expression, found the end of the line
              --> graph.bond:1:8
               |
             1 | Se F = 
               |        ^ here

            error[bond-syntax]: expected the end of the statement, found `v`
              --> graph.bond:2:5
               |
             2 | 1 v v
               |     ^ here

            error[bond-syntax]: expected an expression, found the end of the line
              --> graph.bond:3:10
               |
             3 | R d = 3 +
               |          ^ here
        "#]],
    );
}

#[test]
fn element_without_bond() {
    check(
        "Se F -> 1 v -> R d\nC k = 2",
        expect![[r#"
        error[wrong-bonds]: the capacitor `k` has no bond
          --> graph.bond:2:1
           |
         2 | C k = 2
           | ^^^^^^^ declared here
           = help: bond it to a junction: `v -> k`
    "#]],
    );
}

#[test]
fn element_with_two_bonds() {
    check(
        "Se F -> 1 v -> R d\nF -> 1 w -> d",
        expect![[r#"
        error[wrong-bonds]: the source of effort `F` has two bonds instead of one
          --> graph.bond:2:1
           |
         2 | F -> 1 w -> d
           | ^^^^^^^^ one too many
          ::: graph.bond:1:1
           |
         1 | Se F -> 1 v -> R d
           | ---- declared here
           = help: a junction joins several bonds

        error[wrong-bonds]: the resistor `d` has two bonds instead of one
          --> graph.bond:2:8
           |
         2 | F -> 1 w -> d
           |        ^^^^^^ one too many
          ::: graph.bond:1:16
           |
         1 | Se F -> 1 v -> R d
           |                --- declared here
           = help: a junction joins several bonds
    "#]],
    );
}

#[test]
fn two_efforts_at_one_junction() {
    check(
        "Se U1 = 5\nSe U2 = 3\n0 n\nU1 -> n -> R r\nU2 -> n",
        expect![[r#"
        error[causal-conflict]: `U1` and `U2` both set the effort of the 0-junction `n`
          --> graph.bond:3:1
           |
         3 | 0 n
           | ^^^ two at once
          ::: graph.bond:1:1
           |
         1 | Se U1 = 5
           | --------- its effort is given
          ::: graph.bond:2:1
           |
         2 | Se U2 = 3
           | --------- its effort is given
           = path: Se U1 → 0 n → Se U2 (its effort is given)
           = path: Se U2 → 0 n (its effort is given)
           = help: leave one out, or put a 1-junction with a resistor between
    "#]],
    );
}

#[test]
fn sources_in_conflict_far_apart() {
    check(
        "Sf a -> 1 x -> TF n -> 1 y\nSf b -> y\nx -> R r",
        expect![[r#"
        error[causal-conflict]: `a` and `b` both set the flow of the 1-junction `y`
          --> graph.bond:1:24
           |
         1 | Sf a -> 1 x -> TF n -> 1 y
           |                        ^^^ two at once
           | ---- its flow is given
          ::: graph.bond:2:1
           |
         2 | Sf b -> y
           | ---- its flow is given
           = path: Sf a → 1 x → TF n → 1 y → Sf b (its flow is given)
           = path: Sf b → 1 y (its flow is given)
           = help: leave one out, or put a 0-junction with a resistor between
    "#]],
    );
}

#[test]
fn transformer_with_bonds_against_each_other() {
    check(
        "Se U -> 1 a -> TF n\n1 b -> n\nb -> R r\na -> R s",
        expect![[r#"
        error[power-direction]: the bonds of the transformer `n`: both bring power in
          --> graph.bond:1:11
           |
         1 | Se U -> 1 a -> TF n
           |           ^^^^^^^^^
          ::: graph.bond:2:3
           |
         2 | 1 b -> n
           |   ------
           = help: power goes through it: `a -> n -> b`
    "#]],
    );
}

#[test]
fn ports_of_subgraphs() {
    check(
        "subgraph Load(R = 1)\n  port p, q\n  p -> R r = R\nend Load\nSe U -> 1 i\nLoad a(r = 2)\nLoad b\ni -> a.p\nb.p -> i\ni -> b",
        expect![[r#"
            error[unknown-parameter]: the subgraph `Load` has no parameter `r`
              --> graph.bond:6:8
               |
             6 | Load a(r = 2)
               |        ^ not known
              ::: graph.bond:1:10
               |
             1 | subgraph Load(R = 1)
               |          ---- its definition

            error[no-port]: `b` is a subgraph: a bond ends at one of its ports
               --> graph.bond:10:6
                |
             10 | i -> b
                |      ^ which port?
               = help: one of `b.p`, `b.q`

            error[dangling-port]: the port `a.q` leads nowhere inside of its subgraph
              --> graph.bond:2:11
               |
             2 |   port p, q
               |           ^ no bond
               = help: bond it, or leave the port out

            error[power-direction]: the bonds at the port `b.p` point against each other
              --> graph.bond:9:1
               |
             9 | b.p -> i
               | ^^^^^^^^ outside
              ::: graph.bond:3:3
               |
             3 |   p -> R r = R
               |   -------- inside
               = help: power goes through a port one way: turn one of the arrows

            error[dangling-port]: the port `b.q` leads nowhere inside of its subgraph
              --> graph.bond:2:11
               |
             2 |   port p, q
               |           ^ no bond
               = help: bond it, or leave the port out
        "#]],
    );
}

#[test]
fn stiffness_in_place_of_compliance() {
    check(
        "Se F = 1 \"N\" -> 1 v\nI m = 2 \"kg\"\nC k = 100 \"N/m\"\nv -> m, k",
        expect![[r#"
            warning[unit-mismatch]: `k` is in `N/m`, but here a capacitor is in `s2/kg`
              --> graph.bond:3:1
               |
             3 | C k = 100 "N/m"
               | ^^^^^^^^^^^^^^^ in `N/m`
              ::: graph.bond:2:1
               |
             2 | I m = 2 "kg"
               | ------------ in `kg`
               = help: a capacitor has a compliance: one over its stiffness
        "#]],
    );
}

#[test]
fn unknown_unit() {
    check(
        "Se M = 1 \"Nm\" -> 1 w -> R b",
        expect![[r#"
        warning[unknown-unit]: `Nm` is no unit: `Nm` is no known unit
          --> graph.bond:1:10
           |
         1 | Se M = 1 "Nm" -> 1 w -> R b
           |          ^^^^ taken as no unit
           = help: did you mean `N.m`?
    "#]],
    );
}

#[test]
fn signals_need_modulated_elements() {
    check(
        "Se U -> 1 i -> TF n = i.f\nn -> R r\nSe V = 2*i.f\nV -> i",
        expect![[r#"
        error[not-modulated]: the value of `n` changes with a signal
          --> graph.bond:1:23
           |
         1 | Se U -> 1 i -> TF n = i.f
           |                       ^^^ not constant
           = help: a modulated element says so: `MTF n = …`

        error[not-modulated]: the value of `V` changes with a signal
          --> graph.bond:3:8
           |
         3 | Se V = 2*i.f
           |        ^^^^^ depends on the graph
           = help: a controlled source says so: `MSe V = …`
    "#]],
    );
}

#[test]
fn variables_that_a_junction_has_not() {
    check(
        "Se U -> 1 i -> R r, R s\noutput i.e, r.q",
        expect![[r#"
        error[no-variable]: the 1-junction `i` has no variable `e`
          --> graph.bond:2:8
           |
         2 | output i.e, r.q
           |        ^^^
           = help: a 1-junction has one flow, `i.f`; efforts belong to its bonds

        error[no-variable]: the resistor `r` has no variable `q`
          --> graph.bond:2:13
           |
         2 | output i.e, r.q
           |             ^^^
           = help: it has `r.e` and `r.f`
    "#]],
    );
}

#[test]
fn wrong_stroke() {
    check(
        "Se U |-> 1 i ->| C c\ni -> R r",
        expect![[r#"
        warning[corrected-stroke]: the stroke of `U -> i` belongs at `i`
          --> graph.bond:1:4
           |
         1 | Se U |-> 1 i ->| C c
           |    ^^^^^^^^^ set at `U`
           = because: Se U → 1 i (its effort is given)
           = help: write `->|`, or leave the stroke to the assignment: `->`

        warning[corrected-stroke]: the stroke of `i -> c` belongs at `i`
          --> graph.bond:1:12
           |
         1 | Se U |-> 1 i ->| C c
           |            ^^^^^^^^^ set at `c`
           = because: C c → 1 i (integral causality)
           = help: write `|->`, or leave the stroke to the assignment: `->`
    "#]],
    );
}

#[test]
fn dependent_storage_and_source() {
    check(
        "Se U -> 0 n -> C c\nn -> R r",
        expect![[r#"
        note[derivative-causality]: `c` has derivative causality: `U` sets its effort
          --> graph.bond:1:16
           |
         1 | Se U -> 0 n -> C c
           |                ^^^ dependent storage
           | ---- its effort is given
           = path: Se U → 0 n → C c
           = `c.q` is no state; what flows there follows the derivative of `U`
    "#]],
    );
}

#[test]
fn laws_of_the_wrong_kind() {
    check(
        "Se U -> 1 i -> R r: q = 3\nC c[2] = [1, 2; 3]\ni -> c[1]\ni -> c[3]",
        expect![[r#"
        error[no-such-port]: `c` has 2 ports
          --> graph.bond:4:6
           |
         4 | i -> c[3]
           |      ^^^^ not among them
          ::: graph.bond:2:3
           |
         2 | C c[2] = [1, 2; 3]
           |   - declared here
    "#]],
    );
}

#[test]
fn subgraph_inside_of_itself() {
    check(
        "subgraph A\n  port p\n  A a\n  p -> a.p\nend A\nA x\nSe U -> x.p",
        expect![[r#"
            error[recursive-subgraph]: the subgraph `A` contains itself
              --> graph.bond:3:3
               |
             3 |   A a
               |   ^ inside of itself

            error[dangling-port]: the port `x.p` leads nowhere inside of its subgraph
              --> graph.bond:2:8
               |
             2 |   port p
               |        ^ no bond
               = help: bond it, or leave the port out
        "#]],
    );
}

#[test]
fn texts_of_every_kind_are_survived() {
    let text = "bondgraph G \"d\"\nsubgraph M(R = 1)\nport p\np -> R r = R\nend M\nSe U = sin(time) \"V\"\n1 i on when U.e > 0 and not i.f < 3\nM m(R = 2)\nU ->| i => R x: e = k*f^3, f = [1, 2; 3]\nI f[2] = [1, 2; 2, 3] start p[1] = 3\noutput y = if i.f > 1 then 2 else i.f\nexperiment StopTime = 3";
    let mut random = fastrand::Rng::with_seed(5);
    let pieces: Vec<char> = text.chars().collect();
    for _ in 0..3000 {
        let mut mutated = pieces.clone();
        for _ in 0..1 + random.usize(..6) {
            let place = random.usize(..mutated.len());
            match random.usize(..3) {
                0 => _ = mutated.remove(place),
                1 => mutated.insert(place, pieces[random.usize(..pieces.len())]),
                _ => mutated[place] = ['\n', '"', '(', ']', '-', '>', '|', '0', 'é', '.', '=', ';'][random.usize(..12)],
            }
        }
        let _ = messages(&mutated.iter().collect::<String>());
    }
    let _ = messages(&"(".repeat(100_000));
    let _ = messages(&format!("parameter x = {}1", "1+".repeat(100_000)));
    let _ = messages(&format!("parameter x = {}1", "-(".repeat(100_000)));
}

#[test]
fn tokens_cover_the_text() {
    let text = "Se F = 10 \"N\" // a force\n1 v /* junction */\nF -> v";
    let mut sources = base::SourceMap::default();
    let file = sources.add("graph.bond", text);
    let (tree, diagnostics) = bond::parse(text, file);
    assert!(diagnostics.is_empty());
    let mut end = 0;
    let mut blank = String::new();
    for token in &tree.tokens {
        if token.span.start >= end {
            blank += &text[end as usize..token.span.start as usize];
            end = token.span.end;
        }
    }
    assert_eq!(blank.trim(), "// a force /* junction */".replace(" /*", "  /*").trim(), "{blank:?}");
}
