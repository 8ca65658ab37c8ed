/** What a plan can't know, one sentence each. Names in the sentences come from the page. */
import { countOf } from '../text/numbers.ts';
import { shown } from '../text/clean.ts';
import { tokens } from '../sqlite/sql-text.ts';
import type { LeftOut, SchemaCopy } from './schema-copy.ts';

/** Maximum length of a name in a sentence. */
const MOST = 80;
const name = (text: string): string => shown(text, MOST);
/** Maximum names that one sentence lists. */
const MOST_NAMES = 5;
const list = (names: readonly string[]): string => {
  const first = names.slice(0, MOST_NAMES).map(name).join(', ');
  return names.length > MOST_NAMES ? `${first}, and ${names.length - MOST_NAMES} more` : first;
};

export interface PlanSituation {
  /** The statement as it was recorded. */
  readonly sql: string;
  /** Literals in its text are folded to `?`. */
  readonly folded: boolean;
  /** Tables that it names, in lower case. */
  readonly tables: ReadonlySet<string>;
  readonly copy: SchemaCopy;
  readonly standIns: readonly string[];
  /** Releases of SQLite that ran it. */
  readonly releases: readonly string[];
  /**
   * Indexes of its tables that the recording saw in the database, but that the copy doesn't have.
   */
  readonly unseen: readonly string[];
  /**
   * Tables and indexes that several of its lines read, and how many of their pages all runs read.
   */
  readonly shared: readonly (readonly [name: string, reads: number])[];
  /** ANALYZE ran during the recording. */
  readonly analyzed: boolean;
}

/** @param release of the SQLite that made the plan */
function releaseNote(release: string, releases: readonly string[]): string {
  if (releases.length === 0)
    return `SQLite ${release} made this plan. Your app's release isn't known.`;
  const others = releases.filter((one) => one !== release);
  return others.length === 0
    ? `SQLite ${release} made this plan, the same release as your app's.`
    : `SQLite ${release} made this plan. Your app ran ${others.map(name).join(' and ')}, which can choose another one.`;
}

/** SQLite uses a pattern after one of these as a range only if it sees the pattern. */
const PATTERNS = new Set(['like', 'glob']);

/** The words that precede parameters, in lower case. */
function beforeParameters(sql: string): Set<string> {
  const found = new Set<string>();
  let last = '';
  for (const { kind, text } of tokens(sql)) {
    if (kind === 'space' || kind === 'comment') continue;
    if (kind === 'parameter') found.add(last);
    last = text.toLowerCase();
  }
  return found;
}

export function planNotes(situation: PlanSituation): string[] {
  const { sql, folded, tables, copy, standIns, releases, shared, unseen, analyzed } = situation;
  const { source } = copy;
  const before = beforeParameters(sql);
  const notes = [releaseNote(copy.release, releases)];
  for (const [of, reads] of shared.slice(0, MOST_NAMES))
    notes.push(`Several lines read ${name(of)}: ${countOf(reads, 'page')} together.`);
  if (source.statistics?.length)
    notes.push(
      `It uses the statistics of your database (${countOf(source.statistics.length, 'row')} of sqlite_stat1).`,
    );
  else if (source.from !== 'recording')
    notes.push('Your database has no statistics (sqlite_stat1).');
  else
    notes.push(
      analyzed
        ? 'Your app ran ANALYZE. A recording has no statistics, so the plan uses none.'
        : 'A recording has no statistics (sqlite_stat1), so the plan uses none.',
    );
  if (source.samples) notes.push("This SQLite can't use the samples in sqlite_stat4.");
  if (unseen.length)
    notes.push(
      `${unseen.length === 1 ? 'This index was' : 'These indexes were'} made before the recording, so the plan can't use ${unseen.length === 1 ? 'it' : 'them'}: ${list(unseen)}.`,
    );
  if (folded && before.has('by'))
    notes.push(
      'ORDER BY ? or GROUP BY ? may be the number of a column. Then a sort is missing here.',
    );
  if ([...PATTERNS].some((word) => before.has(word)))
    notes.push("The pattern of LIKE or GLOB isn't known. With it, SQLite may use an index.");
  if (before.size > 0 && folded) {
    const exact = copy.exact.filter(({ table }) => tables.has(table.toLowerCase()));
    if (exact.length)
      notes.push(
        `SQLite needs the statement's values to use ${list(exact.map((index) => `${name(index.name)} (${index.kind === 'partial' ? 'a partial index' : 'an index on an expression'})`))}.`,
      );
  }
  if (/\.\.\./.test(sql)) notes.push('Lists of values are planned with three values.');
  notes.push(...leftOutNotes(copy.leftOut, tables));
  if (standIns.length) notes.push(`Stand-ins replace functions of your app: ${list(standIns)}.`);
  return notes;
}

/** Notes on what is missing for a statement's tables. */
function leftOutNotes(leftOut: readonly LeftOut[], tables: ReadonlySet<string>): string[] {
  const of = (cause: LeftOut['cause']): LeftOut[] =>
    leftOut.filter(
      ({ cause: one, statement: { table, name: own } }) =>
        one === cause && tables.has((table ?? own).toLowerCase()),
    );
  const triggers = of('trigger');
  const refused = of('refused');
  const notes: string[] = [];
  if (triggers.length)
    notes.push(
      `The plan leaves out what triggers run: ${list(triggers.map(({ statement }) => statement.name))}.`,
    );
  for (const { statement, why } of refused.slice(0, MOST_NAMES))
    notes.push(
      `The schema here lacks ${statement.what} ${name(statement.name)}. SQLite reports: ${name(why)}.`,
    );
  return notes;
}

/** Why there is no plan. */
export interface NoPlan {
  readonly cause: string;
  /** Another source of the schema may help. */
  readonly lacksSchema: boolean;
}

/** @param why as SQLite reports @param others names of other databases of its connections */
export function noPlan(why: string, copy: SchemaCopy, others: readonly string[]): NoPlan {
  const { source, leftOut, release } = copy;
  const isRecorded = source.from === 'recording';
  const schema = (cause: string): NoPlan => ({ cause, lacksSchema: isRecorded });
  const never = (cause: string): NoPlan => ({ cause, lacksSchema: false });
  const [, alias = 'main', table] = /^no such table: (?:(\w+)\.)?(.*)$/.exec(why) ?? [];
  if (table !== undefined) {
    const left = leftOut.find(
      ({ statement: { verb, name: own } }) =>
        verb === 'create' && own.toLowerCase() === table.toLowerCase(),
    );
    if (left?.cause === 'virtual table')
      return never(
        `${name(table)} is a virtual table (${name(left.statement.module ?? 'unknown module')}). vfscope can't plan it.`,
      );
    if (left?.cause === 'query')
      return schema(`${name(table)} was made from a SELECT, so its columns aren't known.`);
    if (left)
      return schema(`SQLite ${release} refused the text of ${name(table)}: ${name(left.why)}.`);
    if (!/^(?:main|temp)$/i.test(alias))
      return never(
        `${name(alias)} is an attached database. The recording has no CREATE statement of its table ${name(table)}, and vfscope reads the schema of main databases alone.`,
      );
    const elsewhere = others.length
      ? `. Your app attached ${list(others)}, and it may be there: vfscope reads the schema of main databases alone.`
      : '';
    if (isRecorded)
      return schema(`The recording has no CREATE statement of ${name(table)}${elsewhere || '.'}`);
    return never(
      `${source.database === null ? 'The database' : name(source.database)} has no table ${name(table)}${elsewhere || '. Is it the right database?'}`,
    );
  }
  const collation = /^no such collation sequence: (.*)$/.exec(why)?.[1];
  if (collation !== undefined)
    return never(
      `${name(collation)} is your app's own collation. vfscope's SQLite doesn't have it.`,
    );
  if (/^no such column: /.test(why) && isRecorded)
    return schema(`The recorded schema is older than this statement (${name(why)}).`);
  if (/interrupt/.test(why)) return never('Planning took too long, and vfscope stopped it.');
  return schema(`SQLite ${release} reports: ${name(why)}.`);
}
