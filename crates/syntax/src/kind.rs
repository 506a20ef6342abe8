//! The kinds of tokens and nodes of the lossless tree (Modelica specification 3.6, appendix A).

/// What a token or a node of the tree is. Tokens come first, trivia before all others.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[repr(u8)]
#[allow(missing_docs, reason = "the names are those of the grammar")]
pub enum SyntaxKind {
    // Trivia: what the grammar does not see.
    ByteOrderMark,
    Whitespace,
    LineComment,
    BlockComment,

    // Tokens with a text of their own.
    Ident,
    QuotedIdent,
    Integer,
    Real,
    String,
    /// A character that is no part of the language.
    Unknown,

    // Punctuation.
    LeftParen,
    RightParen,
    LeftBracket,
    RightBracket,
    LeftBrace,
    RightBrace,
    Comma,
    Semicolon,
    Colon,
    Assign,
    Equals,
    Dot,
    Plus,
    Minus,
    Star,
    Slash,
    Caret,
    DotPlus,
    DotMinus,
    DotStar,
    DotSlash,
    DotCaret,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    EqualEqual,
    NotEqual,
    // Operators of other languages, kept as tokens so that the message can name the right one.
    BangEqual,
    AmpAmp,
    PipePipe,
    Bang,

    // Keywords, in alphabetical order.
    AlgorithmKw,
    AndKw,
    AnnotationKw,
    BlockKw,
    BreakKw,
    ClassKw,
    ConnectKw,
    ConnectorKw,
    ConstantKw,
    ConstrainedbyKw,
    DerKw,
    DiscreteKw,
    EachKw,
    ElseKw,
    ElseifKw,
    ElsewhenKw,
    EncapsulatedKw,
    EndKw,
    EnumerationKw,
    EquationKw,
    ExpandableKw,
    ExtendsKw,
    ExternalKw,
    FalseKw,
    FinalKw,
    FlowKw,
    ForKw,
    FunctionKw,
    IfKw,
    ImportKw,
    ImpureKw,
    InKw,
    InitialKw,
    InnerKw,
    InputKw,
    LoopKw,
    ModelKw,
    NotKw,
    OperatorKw,
    OrKw,
    OuterKw,
    OutputKw,
    PackageKw,
    ParameterKw,
    PartialKw,
    ProtectedKw,
    PublicKw,
    PureKw,
    RecordKw,
    RedeclareKw,
    ReplaceableKw,
    ReturnKw,
    StreamKw,
    ThenKw,
    TrueKw,
    TypeKw,
    WhenKw,
    WhileKw,
    WithinKw,

    /// Behind the last token; never in the tree.
    EndOfFile,

    // Nodes.
    Root,
    Within,
    ClassDef,
    EnumerationLiteral,
    EquationSection,
    AlgorithmSection,
    External,
    ImportClause,
    ExtendsClause,
    ConstrainingClause,
    ComponentClause,
    Declaration,
    Condition,
    Modification,
    ClassModification,
    ElementModification,
    BreakModification,
    Description,
    Annotation,
    Equation,
    Assignment,
    CallStatement,
    BreakStatement,
    ReturnStatement,
    ConnectEquation,
    IfBlock,
    ForBlock,
    WhenBlock,
    WhileBlock,
    Iterator,
    TypeName,
    Subscripts,
    AllSubscript,
    Literal,
    Reference,
    Call,
    Arguments,
    NamedArgument,
    PartialApplication,
    Unary,
    Binary,
    IfExpression,
    Range,
    Array,
    Matrix,
    Parentheses,
    Subscripted,
    /// `(e).x`.
    FieldOf,
    EndExpression,
    /// Where an expression should be and none is.
    MissingExpression,
    /// Tokens skipped after a mistake.
    Skipped,
}

use SyntaxKind::*;

/// All keywords with their texts, for look-up and for “did you mean”.
pub const KEYWORDS: &[(&str, SyntaxKind)] = &[
    ("algorithm", AlgorithmKw),
    ("and", AndKw),
    ("annotation", AnnotationKw),
    ("block", BlockKw),
    ("break", BreakKw),
    ("class", ClassKw),
    ("connect", ConnectKw),
    ("connector", ConnectorKw),
    ("constant", ConstantKw),
    ("constrainedby", ConstrainedbyKw),
    ("der", DerKw),
    ("discrete", DiscreteKw),
    ("each", EachKw),
    ("else", ElseKw),
    ("elseif", ElseifKw),
    ("elsewhen", ElsewhenKw),
    ("encapsulated", EncapsulatedKw),
    ("end", EndKw),
    ("enumeration", EnumerationKw),
    ("equation", EquationKw),
    ("expandable", ExpandableKw),
    ("extends", ExtendsKw),
    ("external", ExternalKw),
    ("false", FalseKw),
    ("final", FinalKw),
    ("flow", FlowKw),
    ("for", ForKw),
    ("function", FunctionKw),
    ("if", IfKw),
    ("import", ImportKw),
    ("impure", ImpureKw),
    ("in", InKw),
    ("initial", InitialKw),
    ("inner", InnerKw),
    ("input", InputKw),
    ("loop", LoopKw),
    ("model", ModelKw),
    ("not", NotKw),
    ("operator", OperatorKw),
    ("or", OrKw),
    ("outer", OuterKw),
    ("output", OutputKw),
    ("package", PackageKw),
    ("parameter", ParameterKw),
    ("partial", PartialKw),
    ("protected", ProtectedKw),
    ("public", PublicKw),
    ("pure", PureKw),
    ("record", RecordKw),
    ("redeclare", RedeclareKw),
    ("replaceable", ReplaceableKw),
    ("return", ReturnKw),
    ("stream", StreamKw),
    ("then", ThenKw),
    ("true", TrueKw),
    ("type", TypeKw),
    ("when", WhenKw),
    ("while", WhileKw),
    ("within", WithinKw),
];

/// The range of keywords in `KEYWORDS` for each first letter.
const KEYWORD_RANGES: [(u8, u8); 26] = {
    let mut ranges = [(0, 0); 26];
    let mut index = 0;
    while index < KEYWORDS.len() {
        let letter = (KEYWORDS[index].0.as_bytes()[0] - b'a') as usize;
        if ranges[letter].1 == 0 {
            ranges[letter].0 = index as u8;
        }
        ranges[letter].1 = index as u8 + 1;
        index += 1;
    }
    ranges
};

impl SyntaxKind {
    /// White space, a comment or a byte order mark.
    #[inline]
    pub fn is_trivia(self) -> bool {
        (self as u8) < Ident as u8
    }

    /// A token, not a node.
    pub fn is_token(self) -> bool {
        (self as u8) < EndOfFile as u8
    }

    /// A word that is no identifier.
    #[inline]
    pub fn is_keyword(self) -> bool {
        (AlgorithmKw as u8..=WithinKw as u8).contains(&(self as u8))
    }

    /// The keyword with this text.
    #[inline]
    pub fn keyword(text: &[u8]) -> Option<SyntaxKind> {
        let first = text.first()?.wrapping_sub(b'a') as usize;
        let (start, end) = *KEYWORD_RANGES.get(first)?;
        KEYWORDS[start as usize..end as usize].iter().find(|(word, _)| word.as_bytes() == text).map(|&(_, kind)| kind)
    }

    /// The text of a token whose kind alone decides its text.
    pub fn fixed_text(self) -> Option<&'static str> {
        if self.is_keyword() {
            return KEYWORDS.get((self as u8 - AlgorithmKw as u8) as usize).map(|&(text, _)| text);
        }
        Some(match self {
            LeftParen => "(",
            RightParen => ")",
            LeftBracket => "[",
            RightBracket => "]",
            LeftBrace => "{",
            RightBrace => "}",
            Comma => ",",
            Semicolon => ";",
            Colon => ":",
            Assign => ":=",
            Equals => "=",
            Dot => ".",
            Plus => "+",
            Minus => "-",
            Star => "*",
            Slash => "/",
            Caret => "^",
            DotPlus => ".+",
            DotMinus => ".-",
            DotStar => ".*",
            DotSlash => "./",
            DotCaret => ".^",
            Less => "<",
            LessEqual => "<=",
            Greater => ">",
            GreaterEqual => ">=",
            EqualEqual => "==",
            NotEqual => "<>",
            BangEqual => "!=",
            AmpAmp => "&&",
            PipePipe => "||",
            Bang => "!",
            _ => return None,
        })
    }

    /// A keyword that a class definition can begin with.
    pub fn starts_class(self) -> bool {
        matches!(
            self,
            EncapsulatedKw
                | PartialKw
                | ClassKw
                | ModelKw
                | RecordKw
                | BlockKw
                | ConnectorKw
                | ExpandableKw
                | TypeKw
                | PackageKw
                | FunctionKw
                | PureKw
                | ImpureKw
                | OperatorKw
        )
    }

    /// A prefix of a component clause.
    pub fn is_type_prefix(self) -> bool {
        matches!(self, FlowKw | StreamKw | DiscreteKw | ParameterKw | ConstantKw | InputKw | OutputKw)
    }

    /// A prefix of an element.
    pub fn is_element_prefix(self) -> bool {
        matches!(self, RedeclareKw | FinalKw | InnerKw | OuterKw | ReplaceableKw)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keywords_are_found_by_their_text() {
        for &(text, kind) in KEYWORDS {
            assert_eq!(SyntaxKind::keyword(text.as_bytes()), Some(kind));
            assert_eq!(kind.fixed_text(), Some(text));
        }
        assert_eq!(SyntaxKind::keyword(b"models"), None);
        assert_eq!(SyntaxKind::keyword(b"Model"), None);
        assert_eq!(SyntaxKind::keyword(b""), None);
    }
}
