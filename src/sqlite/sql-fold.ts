/**
 * Replaces every literal of an SQL text with `?`, in one pass and without making a string. The hook
 * does this for every statement, and sql-text.ts for strings. A literal's sign goes with it. A list
 * after IN becomes `(?, ...)`, and rows of VALUES after the first become `, ...`: their number
 * isn't part of a statement's shape. The number that a PRAGMA sets stays if it only configures the
 * database and doesn't reveal its content (SETTINGS). A string used as a name (`INSERT INTO
 * 'todos'`) stays, and everything else is unchanged.
 */
import { Kind, SqlScanner, isKeyword, type Units } from './sql-scan.ts';

const [QUESTION, MINUS, PLUS, OPEN, CLOSE, COMMA, SEMICOLON, DOT, EQUALS] = [
  63, 45, 43, 40, 41, 44, 59, 46, 61,
] as const;
const units = (text: string): readonly number[] => Array.from(text, (c) => c.charCodeAt(0));
const LIST = units('(?, ...)');
const MORE = units(', ...');

/**
 * EXPLAIN QUERY PLAN CREATE TEMP TRIGGER: a statement that makes a trigger has shown it by then.
 */
const TRIGGER_WORDS = 6;

/** PRAGMAs whose numbers stay: https://www.sqlite.org/pragma.html */
const SETTINGS =
  ' auto_vacuum busy_timeout cache_size cache_spill foreign_keys incremental_vacuum journal_size_limit locking_mode max_page_count ' +
  'mmap_size page_size read_uncommitted secure_delete synchronous temp_store threads wal_autocheckpoint wal_checkpoint ';
const LONGEST_SETTING = 18;
const isSetting = (u: Units, from: number, end: number): boolean => {
  let name = ' ';
  for (let i = from; i < end && i < from + LONGEST_SETTING + 1; i++)
    name += String.fromCharCode(u[i]!);
  return SETTINGS.includes(`${name.toLowerCase()} `);
};
/** How much of a PRAGMA that sets a number has been read. `name` may be that of a schema. */
const Pragma = { none: 0, word: 1, name: 2, setting: 3, value: 4 } as const;

/** The state after its next token, which isn't a comment. */
function nextInPragma(pragma: number, u: Units, from: number, end: number, kind: number): number {
  const c = kind === Kind.other ? u[from]! : 0;
  const isName = kind === Kind.word || kind === Kind.quoted;
  if (pragma === Pragma.word && isName)
    return kind === Kind.word && isSetting(u, from, end) ? Pragma.setting : Pragma.name;
  if (c === DOT && (pragma === Pragma.name || pragma === Pragma.setting)) return Pragma.word;
  if (pragma === Pragma.setting && (c === EQUALS || c === OPEN)) return Pragma.value;
  return pragma === Pragma.value && (c === MINUS || c === PLUS) ? Pragma.value : Pragma.none;
}

/** How far the end of the output matches a list that has only `?`, ignoring white space. */
const List = { none: 0, in: 1, open: 2, item: 3, comma: 4, closed: 5, between: 6 } as const;

/**
 * After these words, `-` and `+` are the sign of a value. After other words, numbers, and names
 * they subtract and add.
 */
const BEFORE_VALUE = setOf(
  'select distinct all where and or not in is like glob match regexp between when then else case limit offset by having on set values return ' +
    'returning default escape check from collate',
);
/**
 * After these words a string is a name, because SQLite expects one there (sqlite.org/quirks.html).
 */
const BEFORE_NAME = setOf('into update from join table index exists');
function setOf(words: string): ReadonlySet<number> {
  return new Set(words.split(' ').map((word) => packed(units(word), 0, word.length)));
}
/** A word of up to ten letters as a number, in any case; -1 for others. */
function packed(u: ArrayLike<number>, from: number, end: number): number {
  if (end - from > 10) return -1;
  let all = 0;
  for (let i = from; i < end; i++) {
    const letter = (u[i]! | 32) - 96;
    if (letter < 1 || letter > 26) return -1;
    all = all * 32 + letter;
  }
  return all;
}

export class SqlFolder<U extends Units> {
  /** The folded text: the first `length` units. Valid until the next call. */
  out: U;
  length = 0;
  /** Statements begun in the text; a comment at the end of a script counts as one. */
  statements = 0;
  /** Part of the text was replaced. */
  changed = false;
  /** A number or a name stayed, so another text of the same shape may differ. */
  kept = false;
  private readonly scanner: SqlScanner;
  private readonly stop: number;
  private readonly allocate: (length: number) => U;
  // the list that the end of the output may be in
  private list: number = List.none;
  private behindIn = false;
  private chained = false;
  private collapsed = false;
  private items = 0;
  private openAt = 0;
  private rowEnd = 0;

  /** @param stop the unit that ends a text: 0 for C strings; -1 = none */
  constructor(allocate: (length: number) => U, stop: number) {
    this.allocate = allocate;
    this.scanner = new SqlScanner(stop);
    this.stop = stop;
    this.out = allocate(0);
  }

  /**
   * Fold the text between `from` and `end` into `out`.
   * @param first stop at the semicolon that ends the first statement. The body of a CREATE TRIGGER
   * holds semicolons: there, stop at the one after END.
   * @returns where it stopped: on that semicolon, on `stop`, or at `end`
   */
  fold(u: Units, from: number, end: number, first: boolean): number {
    const room = 2 * (end - from) + 16; // `(1,2)` becomes `(?, ...)`
    if (this.out.length < room) this.out = this.allocate(room);
    const { scanner, stop, out } = this;
    this.list = List.none;
    this.changed = this.kept = false;
    this.length = this.statements = 0;
    let pragma: number = Pragma.none;
    let signAt = -1; // where in `out` signs begin that may belong to a literal
    let before = -1; // the last token that isn't space or a comment: its kind and position
    let beforeAt = 0;
    let beforeEnd = 0;
    let began = false; // the statement
    let words = 0; // words of the statement, counted while they may show that it makes a trigger
    let inTrigger = false;
    let vacuums = false; // VACUUM INTO takes a value
    let afterSemicolon = false;
    let sawEnd = false;
    let i = from;
    while (i < end && u[i] !== stop) {
      const after = scanner.next(u, i, end);
      const { kind } = scanner;
      const c = kind === Kind.other ? u[i]! : 0;
      let keeps = false;
      if (c === SEMICOLON && (!inTrigger || sawEnd)) {
        if (first) return i;
        began = inTrigger = vacuums = sawEnd = afterSemicolon = false;
        words = 0;
        pragma = Pragma.none;
      } else if (kind !== Kind.space) {
        if (!began) this.statements++;
        began = true;
        if (kind === Kind.word && words === 0)
          pragma = isKeyword(u, i, after, 'pragma') ? Pragma.word : Pragma.none;
        else if (pragma && kind !== Kind.comment) {
          keeps = pragma === Pragma.value && kind === Kind.number;
          pragma = nextInPragma(pragma, u, i, after, kind);
        }
        if (kind === Kind.string && !vacuums)
          keeps =
            (u[beforeAt] === DOT && beforeEnd - beforeAt === 1) ||
            BEFORE_NAME.has(packed(u, beforeAt, beforeEnd));
        if (kind === Kind.word) {
          vacuums ||= isKeyword(u, i, after, 'vacuum');
          if (words === 0)
            words =
              isKeyword(u, i, after, 'create') || isKeyword(u, i, after, 'explain')
                ? 1
                : TRIGGER_WORDS;
          else if (words < TRIGGER_WORDS && ++words && isKeyword(u, i, after, 'trigger'))
            inTrigger = true;
          sawEnd = inTrigger && afterSemicolon && isKeyword(u, i, after, 'end');
          afterSemicolon = false;
        } else if (kind !== Kind.comment) {
          sawEnd = false;
          afterSemicolon = c === SEMICOLON;
        }
      }
      if (keeps) this.kept = true;
      if (!keeps && kind >= Kind.string && kind <= Kind.number) {
        if (signAt >= 0) this.length = signAt;
        signAt = -1;
        out[this.length++] = QUESTION;
        this.changed = true;
        this.item();
      } else {
        if (c === MINUS || c === PLUS) {
          if (signAt < 0 && !isOperand(u, before, beforeAt, beforeEnd)) signAt = this.length;
          else if (signAt < 0) this.list = List.none;
        } else if (kind !== Kind.space && (kind !== Kind.comment || signAt < 0)) {
          if (signAt >= 0) this.list = List.none; // it wasn't a literal's sign
          signAt = -1;
          this.listToken(u, kind, c, i, after);
        }
        let { length } = this;
        for (let at = i; at < after; at++) out[length++] = u[at]!;
        this.length = length;
        if (c === CLOSE) this.listClosed();
      }
      // IS DISTINCT FROM: a value follows, as after DISTINCT
      const compares =
        isKeyword(u, i, after, 'from') && isKeyword(u, beforeAt, beforeEnd, 'distinct');
      if (kind > Kind.comment && !compares) {
        before = kind;
        beforeAt = i;
        beforeEnd = after;
      }
      i = after;
    }
    return i;
  }

  // ---- lists --------------------------------------------------------------------------------------------------------------

  private item(): void {
    if (this.list !== List.open && this.list !== List.comma) {
      this.list = List.none;
      return;
    }
    this.list = List.item;
    this.items++;
  }

  /** Handles the next token of the output. */
  private listToken(u: Units, kind: number, c: number, from: number, end: number): void {
    const { list } = this;
    if (c === OPEN) {
      this.behindIn = list === List.in;
      this.chained = list === List.between;
      this.items = 0;
      this.openAt = this.length;
      this.list = List.open;
    } else if (c === COMMA)
      this.list = list === List.item ? List.comma : list === List.closed ? List.between : List.none;
    else if (kind === Kind.parameter && end === from + 1) this.item();
    else if (kind === Kind.word && isKeyword(u, from, end, 'in')) this.list = List.in;
    else if (c !== CLOSE) this.list = List.none;
  }

  /** The last token of the output is a `)`. */
  private listClosed(): void {
    if (this.list !== List.item) {
      this.list = List.none;
      return;
    }
    this.list = List.closed;
    if (this.behindIn && this.items > 1) {
      this.length = this.openAt;
      this.append(LIST);
      this.list = List.none;
    } else if (this.chained) {
      this.length = this.rowEnd;
      if (!this.collapsed) this.append(MORE);
      this.collapsed = true;
    } else this.collapsed = false;
    this.rowEnd = this.length;
  }
  private append(text: readonly number[]): void {
    for (let i = 0; i < text.length; i++) this.out[this.length++] = text[i]!;
    this.changed = true;
  }
}

/** Does a token of this kind end an operand, so that a following sign is an operator? */
function isOperand(u: Units, kind: number, from: number, end: number): boolean {
  if (kind === Kind.other) return u[from] === CLOSE;
  if (kind === Kind.word) return !BEFORE_VALUE.has(packed(u, from, end));
  return kind !== -1;
}
