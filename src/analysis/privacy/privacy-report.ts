/**
 * What a trace reveals about its app and its users, to check before sharing: the number of texts of
 * each kind, and the resulting level.
 *
 *   0 operations, offsets, sizes, times, names   1 + statements, literals folded, tables and indexes   2 + statements with literals   3 + bound values
 */
import { hasOwnKey } from '../../event/channels.ts';
import type { CaptureLevel } from '../../event/capture.ts';
import { IDB_REQUEST } from '../../event/operations.ts';
import { tokens } from '../../sqlite/sql-text.ts';
import type { TraceStore } from '../../trace/store.ts';

export interface PrivacyReport {
  /** From what the trace has, not from the settings. */
  level: CaptureLevel;
  /** The highest capture setting of the threads; null if it wasn't recorded. */
  capturedLevel: CaptureLevel | null;
  /** Distinct texts of each kind. */
  sqlTexts: number;
  /** Those that still have a string, number, or blob. */
  sqlWithLiterals: number;
  /**
   * Those with names in double quotes: SQLite takes such a name for a string if no such name
   * exists.
   */
  sqlWithDoubleQuotes: number;
  /** Those with comments, which are unchanged at every level that keeps SQL. */
  sqlWithComments: number;
  /** Tables and indexes, by name. */
  treeNames: number;
  /** Runs of statements with their bound values. */
  runsWithValues: number;
  /** JavaScript stacks: URLs and names of functions. */
  stacks: number;
  /** Functions in CPU samples, by name. */
  functions: number;
  fileNames: number;
  urls: number;
  /** IndexedDB databases and stores, locks, storage keys, marks, workers. */
  names: number;
  /** Errors and notes, which may contain anything. */
  messages: number;
  userAgents: number;
  /**
   * Calls with a numeric key or offset on IndexedDB: these numbers may be keys of the app's own
   * records.
   */
  numericKeys: number;
}

const isUrl = (text: string): boolean => /^[a-z][a-z0-9+.-]*:\/\//i.test(text);

export function privacyReport(store: TraceStore): PrivacyReport {
  const sql = new Set<string>();
  const files = new Set<string>();
  const urls = new Set<string>();
  const names = new Set<string>();
  const messages = new Set<string>();
  const agents = new Set<string>();
  const trees = new Set<string>();
  const functions = new Set<string>();
  let [numericKeys, runsWithValues, stacks] = [0, 0, 0];
  const captured: CaptureLevel[] = [];
  const name = (text: string): void => void (text && (isUrl(text) ? urls : names).add(text));
  for (const { info, said, events, cpu } of store.threads) {
    if (info.url) urls.add(info.url);
    for (const one of cpu?.functions ?? []) {
      if (one.name) functions.add(one.name);
      if (one.url) urls.add(one.url);
    }
    name(info.name);
    for (const d of said) {
      switch (d.kind) {
        case 'sql':
          if (d.text) sql.add(d.text);
          break;
        case 'file':
        case 'opfs-file':
          if (d.path) files.add(d.path);
          break;
        case 'idb-store':
          name(`${d.db}/${d.store}`);
          break;
        case 'idb-database':
          name(d.db);
          break;
        case 'lock':
        case 'storage-key':
        case 'name':
          name(d.text);
          break;
        case 'message':
          if (d.text) messages.add(d.text);
          break;
        case 'note':
          if (d.text) messages.add(d.text);
          if (d.url) urls.add(d.url);
          break;
        case 'engine':
          if (d.note) messages.add(d.note);
          break;
        case 'environment':
          if (d.url) urls.add(d.url);
          if (d.userAgent) agents.add(d.userAgent);
          captured.push(d.capture.capture);
          break;
        case 'values':
          runsWithValues++;
          break;
        case 'stack':
          if (d.text) stacks++;
          break;
        case 'channel':
          if (!hasOwnKey(d.channel)) name(d.key.split('\n')[0]!);
          break;
        case 'b-tree-names':
          for (const text of [...d.names, ...d.tables]) if (text) trees.add(text);
          break;
        case 'b-tree-pages':
        case 'b-tree-end':
        case 'database-header':
        case 'storage':
        case 'conditions':
        case 'cost':
          break;
      }
    }
    for (let i = 0; i < events.count; i++) {
      const op = events.op[i]!;
      // the operations of IndexedDB
      if (IDB_REQUEST[op] && !Number.isNaN(events.offset[i]!)) numericKeys++;
    }
  }
  let [sqlWithLiterals, sqlWithDoubleQuotes, sqlWithComments] = [0, 0, 0];
  for (const text of sql) {
    const kinds = new Set(
      [...tokens(text)].map((t) =>
        t.kind === 'quoted' && t.text.startsWith('"') ? 'double' : t.kind,
      ),
    );
    if (kinds.has('string') || kinds.has('number') || kinds.has('blob')) sqlWithLiterals++;
    if (kinds.has('double')) sqlWithDoubleQuotes++;
    if (kinds.has('comment')) sqlWithComments++;
  }
  const texts = { sqlTexts: sql.size, sqlWithLiterals, sqlWithDoubleQuotes, sqlWithComments };
  const counts = { ...texts, fileNames: files.size, urls: urls.size, names: names.size };
  return {
    level: runsWithValues ? 3 : sqlWithLiterals ? 2 : sql.size + trees.size ? 1 : 0,
    capturedLevel: captured.length ? (Math.max(...captured) as CaptureLevel) : null,
    ...counts,
    treeNames: trees.size,
    runsWithValues,
    stacks,
    functions: functions.size,
    messages: messages.size,
    userAgents: agents.size,
    numericKeys,
  };
}

/** The report in one line of text. */
export function privacyText(r: PrivacyReport): string {
  const part = (n: number, one: string, many = `${one}s`): string[] =>
    n ? [`${n} ${n === 1 ? one : many}`] : [];
  const within = [
    `${r.sqlWithLiterals} with literals`,
    ...(r.sqlWithDoubleQuotes
      ? [`${r.sqlWithDoubleQuotes} with "words", which may be values`]
      : []),
    ...(r.sqlWithComments ? [`${r.sqlWithComments} with comments`] : []),
  ].join(', ');
  const parts = [
    ...part(r.sqlTexts, `SQL text (${within})`, `SQL texts (${within})`),
    ...part(r.treeNames, 'name of a table or index', 'names of tables and indexes'),
    ...part(r.runsWithValues, 'run with bound values', 'runs with bound values'),
    ...part(r.stacks, 'JavaScript stack'),
    ...part(r.functions, 'name of a function', 'names of functions'),
    ...part(r.fileNames, 'file name'),
    ...part(r.urls, 'URL'),
    ...part(r.names, 'name'),
    ...part(r.messages, 'message'),
    ...part(r.userAgents, 'user agent'),
    ...part(r.numericKeys, 'numeric key'),
  ];
  return `level ${r.level}: ${parts.join(', ') || 'operations, sizes, and times only'}`;
}
