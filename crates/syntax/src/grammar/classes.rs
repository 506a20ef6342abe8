//! Files, class definitions and what stands in a class (specification, sections A.2.1 and A.2.2).

use base::Diagnostic;

use super::elements::{at_constraint, constraining_clause, element, starts_element, type_prefixes};
use super::equations::{equation_items, looks_like_equation, misplaced_equations, statement_items};
use super::expressions::{component_reference, expression_list, subscripts, type_specifier};
use super::modifications::{annotation, class_modification, description, description_string};
use crate::kind::SyntaxKind::{self, *};
use crate::parser::{Mark, Parser};

/// The keywords that name a kind of class, the ones that are misspelled in front of a name.
pub(super) const CLASS_KEYWORDS: &[SyntaxKind] = &[
    ModelKw,
    PackageKw,
    FunctionKw,
    RecordKw,
    ConnectorKw,
    BlockKw,
    TypeKw,
    ClassKw,
    PartialKw,
    EncapsulatedKw,
    ExpandableKw,
    OperatorKw,
];

pub(crate) fn stored_definition(p: &mut Parser) {
    if p.at(WithinKw) {
        within(p);
    }
    while !p.at_end() {
        let start = p.position();
        let mark = p.open();
        p.eat(FinalKw);
        let misspelled =
            p.misspelled(p.position(), CLASS_KEYWORDS).filter(|_| p.nth_is_name(1) || starts_kind(p.nth(1)));
        if let Some(kind) = misspelled {
            misspelled_class_definition(p, mark, kind);
            p.finish_item("the class definition");
        } else if p.current().starts_class() {
            class_definition(p, mark);
            p.finish_item("the class definition");
        } else if p.at(WithinKw) {
            let diagnostic = Diagnostic::error("misplaced-within", "`within` must be the first line of a file")
                .at(p.current_span(), "")
                .specification("13.4.3");
            p.report(diagnostic);
            within(p);
        } else if p.at(ImportKw) && p.nth(1) == String {
            import_of_file(p);
        } else {
            outside_of_class(p);
        }
        if p.position() == start {
            p.skip_unexpected("a class definition");
        }
    }
}

fn starts_kind(kind: SyntaxKind) -> bool {
    kind.starts_class() && kind != EncapsulatedKw
}

/// `import "file";` before the classes: old tools read the file then. Here a library is read from its folder when it is used.
fn import_of_file(p: &mut Parser) {
    let diagnostic =
        Diagnostic::breach("import-of-file", format!("the file {} is not read here", p.text_at(p.position() + 1)))
            .at(p.current_span(), "not part of the language")
            .hint("remove it, and give the folder of the library with --library, or in MODELICAPATH")
            .specification("13.2");
    p.report(diagnostic);
    let mark = p.open();
    p.bump();
    p.bump();
    p.eat(Semicolon);
    p.close(mark, Skipped);
}

/// Something at the top of a file that is no class.
fn outside_of_class(p: &mut Parser) {
    if p.at(EndKw) {
        let message = match p.nth_is_name(1) {
            true => format!("`end {}` closes nothing", p.text_at(p.position() + 1)),
            false => "`end` closes nothing".to_owned(),
        };
        let diagnostic = Diagnostic::error("unmatched-end", message)
            .at(p.current_span(), "no class is open here")
            .hint("is there one `end` too many before it?");
        p.error(diagnostic);
        let mark = p.open();
        p.bump();
        p.close(mark, Skipped);
        p.skip_to_semicolon();
        return;
    }
    if p.at(Semicolon) {
        stray_semicolon(p);
        return;
    }
    p.skip_unexpected("a class definition such as `model M … end M;`");
}

fn stray_semicolon(p: &mut Parser) {
    let diagnostic = Diagnostic::breach("stray-semicolon", "there is nothing before this `;`")
        .at(p.current_span(), "")
        .hint("remove it");
    p.report(diagnostic);
    p.bump();
}

fn within(p: &mut Parser) {
    let mark = p.open();
    p.bump();
    if p.at_name() || p.at(Dot) {
        type_specifier(p, "a package name");
    }
    p.finish_item("the `within` clause");
    p.close(mark, Within);
}

/// Whether a class has a body.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum ClassForm {
    Short,
    Long,
}

/// A class behind its element prefixes, from `encapsulated` on; `mark` is where the prefixes began.
pub(super) fn class_definition(p: &mut Parser, mark: Mark) -> ClassForm {
    p.nested(|p| {
        class_prefixes(p);
        class_specifier(p, mark)
    })
}

/// A class whose first keyword is misspelled and meant as `kind`.
pub(super) fn misspelled_class_definition(p: &mut Parser, mark: Mark, kind: SyntaxKind) {
    p.report_misspelled(p.position(), kind);
    p.bump();
    match kind {
        PartialKw | EncapsulatedKw | ExpandableKw | OperatorKw => class_definition(p, mark),
        _ => p.nested(|p| class_specifier(p, mark)),
    };
}

fn class_specifier(p: &mut Parser, mark: Mark) -> ClassForm {
    let mut form = ClassForm::Long;
    if p.eat(ExtendsKw) {
        let name = p.position();
        p.expect_name("the name of the class that is extended");
        if p.at(LeftParen) {
            class_modification(p);
        }
        description_string(p);
        long_class(p, name);
    } else {
        let name = p.position();
        let named = p.expect_name("a class name");
        if p.at(Equals) {
            form = ClassForm::Short;
            short_class(p);
        } else if named || !p.is_recovering() || p.line_break_before(p.position()) {
            p.recovered();
            description_string(p);
            long_class(p, name);
        }
    }
    if at_constraint(p) {
        constraining_clause(p);
        description(p);
    }
    p.close(mark, ClassDef);
    form
}

fn class_prefixes(p: &mut Parser) {
    p.eat(EncapsulatedKw);
    p.eat(PartialKw);
    match p.current() {
        PureKw | ImpureKw => {
            p.bump();
            p.eat(OperatorKw);
            p.expect(FunctionKw, "`function`");
        }
        OperatorKw => {
            p.bump();
            if !p.eat(RecordKw) {
                p.eat(FunctionKw);
            }
        }
        ExpandableKw => {
            p.bump();
            p.expect(ConnectorKw, "`connector`");
        }
        ClassKw | ModelKw | RecordKw | BlockKw | ConnectorKw | TypeKw | PackageKw | FunctionKw => p.bump(),
        _ => {
            if p.nth_is_name(1)
                && let Some(kind) = p.misspelled(p.position(), CLASS_KEYWORDS)
            {
                p.report_misspelled(p.position(), kind);
                p.bump();
            } else {
                p.unexpected("a kind of class such as `model`");
                if p.nth_is_name(1) {
                    p.bump();
                }
            }
        }
    }
}

fn long_class(p: &mut Parser, name: usize) {
    p.open_classes.push(name);
    composition(p);
    p.open_classes.pop();
    end_of_class(p, name);
}

fn end_of_class(p: &mut Parser, name: usize) {
    let class_name = p.text_at(name);
    if !p.at(EndKw) {
        let diagnostic = Diagnostic::error("missing-end", format!("the class `{class_name}` is not closed"))
            .at(p.previous_end(), format!("expected `end {class_name};` here"))
            .at(p.span_at(name), "it begins here");
        p.error(diagnostic);
        return;
    }
    if !p.nth_is_name(1) {
        p.bump();
        let diagnostic = Diagnostic::error("missing-end-name", "`end` must name the class that it closes")
            .at(p.previous_end(), format!("expected `{class_name}` here"))
            .specification("4.6");
        p.report(diagnostic);
        return;
    }
    let end_name = p.text_at(p.position() + 1);
    if end_name == class_name {
        p.bump();
        p.bump();
        return;
    }
    if p.open_classes.iter().rev().any(|&open| p.text_at(open) == end_name) {
        let diagnostic =
            Diagnostic::error("missing-end", format!("the class `{class_name}` is not closed before `end {end_name}`"))
                .at(p.span_at(p.position() + 1), format!("closes `{end_name}`"))
                .at(p.span_at(name), format!("`{class_name}` begins here"))
                .hint(format!("write `end {class_name};` before it"));
        p.error(diagnostic);
        return;
    }
    let message = format!("`end {end_name}` does not match the name of the class, `{class_name}`");
    let diagnostic = Diagnostic::error("end-name-mismatch", message)
        .at(p.span_at(p.position() + 1), format!("expected `{class_name}`"))
        .at(p.span_at(name), format!("`{class_name}` begins here"))
        .specification("4.6");
    p.report(diagnostic);
    p.bump();
    p.bump();
}

/// `= …`: a short class, an enumeration or a partial derivative.
pub(super) fn short_class(p: &mut Parser) {
    p.bump();
    match p.current() {
        EnumerationKw => enumeration(p),
        DerKw => partial_derivative(p),
        _ => {
            type_prefixes(p);
            type_specifier(p, "a class name");
            if p.at(LeftBracket) {
                subscripts(p);
            }
            if p.at(LeftParen) {
                class_modification(p);
            }
        }
    }
    description(p);
}

fn enumeration(p: &mut Parser) {
    p.bump();
    let open = p.position();
    if !p.expect(LeftParen, "`(` behind `enumeration`") {
        return;
    }
    if !p.eat(Colon) && !p.at(RightParen) {
        loop {
            let mark = p.open();
            p.expect_name("a name of the enumeration");
            description(p);
            p.close(mark, EnumerationLiteral);
            if !p.eat(Comma) {
                break;
            }
        }
    }
    p.expect_closing(RightParen, open, "`,` or ");
}

fn partial_derivative(p: &mut Parser) {
    p.bump();
    let open = p.position();
    if !p.expect(LeftParen, "`(` behind `der`") {
        return;
    }
    type_specifier(p, "the name of a function");
    while p.eat(Comma) {
        p.expect_name("the name of an input");
    }
    p.expect_closing(RightParen, open, "`,` or ");
}

/// What stands between the name of a class and its `end`.
fn composition(p: &mut Parser) {
    // An annotation of the class ended an equation section.
    let mut is_interrupted = false;
    loop {
        let start = p.position();
        match p.current() {
            EndOfFile => return,
            EndKw if matches!(p.nth(1), IfKw | ForKw | WhenKw | WhileKw) => stray_end(p),
            EndKw => return,
            PublicKw | ProtectedKw => p.bump(),
            EquationKw => {
                equation_section(p);
                is_interrupted = p.at(AnnotationKw);
            }
            AlgorithmKw => algorithm_section(p),
            InitialKw if p.nth(1) == EquationKw => equation_section(p),
            InitialKw if p.nth(1) == AlgorithmKw => algorithm_section(p),
            ExternalKw => external(p),
            AnnotationKw => {
                annotation(p);
                p.finish_item("the annotation");
                if is_interrupted && looks_like_equation(p) {
                    continued_section(p);
                }
                is_interrupted &= p.at(AnnotationKw);
            }
            Semicolon => stray_semicolon(p),
            Ident if misspelled_section(p) => {}
            _ if looks_like_equation(p) => implicit_equation_section(p),
            _ if starts_element(p) => {
                element(p);
            }
            _ => p.skip_unexpected("a declaration"),
        }
        if p.position() == start {
            p.skip_unexpected("a declaration");
        }
    }
}

/// `end if;` without `if`.
fn stray_end(p: &mut Parser) {
    let word = p.text_at(p.position() + 1);
    let diagnostic = Diagnostic::error("unmatched-end", format!("`end {word}` closes nothing"))
        .at(p.current_span(), format!("there is no `{word}` open here"));
    p.report(diagnostic);
    p.bump();
    p.bump();
    p.eat(Semicolon);
}

/// A misspelled `equation`, `algorithm`, `public` or `protected` alone on its line, where what follows is no declaration.
fn misspelled_section(p: &mut Parser) -> bool {
    const SECTIONS: &[SyntaxKind] = &[EquationKw, AlgorithmKw, ProtectedKw, PublicKw];
    if !p.line_break_before(p.position() + 1) || !p.line_break_before(p.position()) {
        return false;
    }
    let declares = p.nth_is_name(1)
        && matches!(
            p.nth(2),
            Semicolon
                | Comma
                | LeftBracket
                | LeftParen
                | Equals
                | Assign
                | String
                | IfKw
                | AnnotationKw
                | ConstrainedbyKw
        );
    if declares {
        return false;
    }
    let Some(kind) = p.misspelled(p.position(), SECTIONS) else { return false };
    p.report_misspelled(p.position(), kind);
    match kind {
        EquationKw => equation_section(p),
        AlgorithmKw => algorithm_section(p),
        _ => p.bump(),
    }
    true
}

/// An equation section goes on behind an annotation of the class, as in texts before Modelica 3: there an annotation was an item of
/// the section. The section is closed before it, so that the annotation is that of the class. Equations have no order, so two
/// sections mean what one does; of algorithms that is not true.
fn continued_section(p: &mut Parser) {
    let diagnostic =
        Diagnostic::breach("annotation-in-section", "the annotation of the class stands between equations")
            .at(p.current_span(), "the section goes on here")
            .hint("move the annotation to the end of the class")
            .specification("4.5");
    p.report(diagnostic);
    let mark = p.open();
    equation_items(p);
    p.close(mark, EquationSection);
}

/// An equation where declarations stand: as if `equation` had been written.
fn implicit_equation_section(p: &mut Parser) {
    let diagnostic = Diagnostic::error("equation-outside-section", "an equation among the declarations")
        .at(p.current_span(), "")
        .hint("equations stand behind the keyword `equation`, assignments behind `algorithm`")
        .specification("4.5");
    p.report(diagnostic);
    let mark = p.open();
    misplaced_equations(p);
    p.close(mark, EquationSection);
}

fn equation_section(p: &mut Parser) {
    let mark = p.open();
    p.eat(InitialKw);
    p.bump();
    equation_items(p);
    p.close(mark, EquationSection);
}

fn algorithm_section(p: &mut Parser) {
    let mark = p.open();
    p.eat(InitialKw);
    p.bump();
    statement_items(p);
    p.close(mark, AlgorithmSection);
}

fn external(p: &mut Parser) {
    let mark = p.open();
    p.bump();
    p.eat(String);
    if p.at_name() || p.at(Dot) {
        // `y = f(…)` or `f(…)`: the function is a plain name, which a reference covers.
        component_reference(p);
        if p.eat(Equals) {
            component_reference(p);
        }
        let open = p.position();
        if p.expect(LeftParen, "`(` and the arguments of the external function") {
            if !p.at(RightParen) {
                expression_list(p);
            }
            p.expect_closing(RightParen, open, "`,` or ");
        }
    }
    if p.at(AnnotationKw) {
        annotation(p);
    }
    p.close(mark, External);
    p.finish_item("the external clause");
}
