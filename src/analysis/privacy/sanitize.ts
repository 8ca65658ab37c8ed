/**
 * Makes an anonymized trace. Files, origins, URLs, locks, stores, threads, messages, and SQL
 * identifiers become numbered names, always the same name for the same word. Counts, times,
 * offsets, and sizes are unchanged. Everything that isn't known to be harmless is replaced.
 *
 *   /users/ann.db-wal -> /file1-wal     SELECT name FROM patient WHERE id=? -> SELECT n1 FROM n2 WHERE n3=?
 */
import { CHANNEL_KINDS } from '../../event/channels.ts';
import { browserOf } from '../../text/browser.ts';
import { databaseName, plainPath, suffixOf } from '../../event/file-names.ts';
import {
  FILE_KINDS,
  NOTE_TOPICS,
  SUSPENSIONS,
  THREAD_KINDS,
  type Definition,
  type EngineInfo,
  type ThreadEnvironment,
} from '../../event/definitions.ts';
import { captureOptionsOf } from '../../event/capture.ts';
import { tokens, foldLiterals } from '../../sqlite/sql-text.ts';
import { WAITING, type CpuFunction, type CpuSamples } from '../../trace/cpu-samples.ts';
import { TraceStore, type ThreadInfo, type ThreadStore } from '../../trace/store.ts';
import { ENGINE_NAMES, PRAGMA_WORDS, SQL_FUNCTIONS, SQL_WORDS, VFS_NAMES } from './allow-list.ts';

interface SanitizeOptions {
  /**
   * `shape` keeps keywords and the form of statements; `fingerprint` only keeps which ones are
   * equal.
   */
  statements?: 'shape' | 'fingerprint';
}

const ENDED: readonly string[] = ['stopped', 'pagehide', 'closed', 'terminated'];

const oneOf = <T>(known: readonly T[], value: unknown, otherwise: T): T =>
  known.includes(value as T) ? (value as T) : otherwise;
const countOrZero = (value: unknown): number =>
  typeof value === 'number' && Number.isFinite(value) ? value : 0;

/** Gives every word a new name, and remembers it. */
class Aliases {
  private readonly names = new Map<string, string>();
  private readonly counts = new Map<string, number>();

  /** @param sort prefix of the new name; the empty word stays empty */
  of(word: string, sort: string): string {
    if (word === '') return '';
    let name = this.names.get(word);
    if (name === undefined) {
      const n = (this.counts.get(sort) ?? 0) + 1;
      this.counts.set(sort, n);
      this.names.set(word, (name = `${sort}${n}`));
    }
    return name;
  }
}

class Sanitizer {
  private readonly names = new Aliases();
  private readonly identifiers = new Aliases();
  private readonly statements = new Aliases();
  private readonly threads = new Aliases();

  constructor(private readonly options: SanitizeOptions) {}

  /**
   * Files, locks, and pools often share names, so `app.db`, `/app.db-wal`, and the lock `app.db`
   * keep a common stem.
   */
  path(path: string, sort: string): string {
    const slash = plainPath(path) === path ? '' : '/';
    return slash + this.names.of(databaseName(path), sort) + suffixOf(path);
  }
  url(url: string): string {
    if (url === '') return '';
    const origin = /^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i.exec(url)?.[0] ?? '';
    return `https://${this.names.of(origin || 'opaque origin', 'site')}.example/${this.names.of(url.slice(origin.length), 'path')}`;
  }
  thread(id: string): string {
    return this.threads.of(id, 'thread');
  }

  sql(text: string): string {
    if (this.options.statements === 'fingerprint') return this.statements.of(text, 'statement ');
    let out = '';
    const pragma = /^\s*pragma\b/i.test(text);
    for (const { kind, text: token } of tokens(foldLiterals(text))) {
      if (kind === 'comment') out += ' ';
      else if (kind === 'blob' || kind === 'number') out += '?';
      else if (kind === 'parameter')
        out += /^\?\d*$/.test(token)
          ? token
          : `:${this.identifiers.of(token.slice(1).toLowerCase(), 'p')}`;
      else if (kind === 'quoted' || kind === 'string')
        // a string that is left is a name
        out += this.identifiers.of(unquoted(token).toLowerCase(), 'n') || '""';
      else if (kind === 'word') out += this.word(token, pragma);
      else if (kind === 'space') out += /[\r\n]/.test(token) ? '\n' : ' ';
      else out += /^[\x21-\x7e]$/.test(token) ? token : '?';
    }
    return out;
  }
  private word(token: string, pragma: boolean): string {
    const word = token.toLowerCase();
    if (SQL_WORDS.has(word) || SQL_FUNCTIONS.has(word) || (pragma && PRAGMA_WORDS.has(word)))
      return token;
    return this.identifiers.of(word, 'n');
  }

  /**
   * A table's or index's name, as in statements. SQLite's own names keep their form, which shows
   * what they are.
   */
  private treeName(name: string): string {
    const [, table, n] = /^sqlite_autoindex_(.+)_(\d+)$/i.exec(name) ?? [];
    if (table !== undefined) return `sqlite_autoindex_${this.treeName(table)}_${n}`;
    return /^[a-z_]\w*$/i.test(name)
      ? this.word(name, false)
      : this.identifiers.of(name.toLowerCase(), 'n');
  }

  /** @returns null for unknown kinds, whose content can't be judged */
  definition(d: Definition): Definition | null {
    switch (d.kind) {
      case 'file':
        return {
          kind: 'file',
          id: d.id,
          path: this.path(d.path, 'file'),
          fileKind: oneOf(FILE_KINDS, d.fileKind, 'other'),
          vfs: this.vfs(d.vfs),
          engine: countOrZero(d.engine),
          flags: countOrZero(d.flags),
        };
      case 'opfs-file':
        return { kind: 'opfs-file', id: d.id, path: this.path(d.path, 'file') };
      case 'idb-store':
        return {
          kind: 'idb-store',
          id: d.id,
          db: this.path(d.db, 'idb'),
          store: this.path(d.store, 'store'),
        };
      case 'idb-database':
        return { kind: 'idb-database', id: d.id, db: this.path(d.db, 'idb') };
      case 'lock':
        return { kind: 'lock', id: d.id, text: this.path(d.text, 'lock') };
      case 'storage-key':
        return { kind: 'storage-key', id: d.id, text: this.path(d.text, 'key') };
      case 'name':
        return { kind: 'name', id: d.id, text: this.names.of(d.text, 'name') };
      case 'message':
        return { kind: 'message', id: d.id, text: this.names.of(d.text, 'message') };
      case 'sql':
        return {
          kind: 'sql',
          id: d.id,
          text: this.sql(d.text),
          ...(d.truncated === true ? { truncated: true } : {}),
        };
      case 'engine':
        return { kind: 'engine', id: d.id, ...this.engine(d) };
      case 'environment':
        return { kind: 'environment', id: 0, ...this.environment(d) };
      case 'note': {
        const topic = oneOf(NOTE_TOPICS, d.topic, 'engine');
        return {
          kind: 'note',
          id: 0,
          topic,
          text: `(text taken out, ${topic})`,
          ...(d.url ? { url: this.url(d.url) } : {}),
        };
      }
      case 'values':
        return null; // the user's own data
      case 'b-tree-names':
        return {
          kind: 'b-tree-names',
          id: d.id,
          file: d.file,
          at: d.at,
          page: d.page,
          roots: [...d.roots],
          names: d.names.map((name) => this.treeName(name)),
          tables: d.tables.map((name) => this.treeName(name)),
        };
      case 'b-tree-pages':
        return {
          kind: 'b-tree-pages',
          id: d.id,
          file: d.file,
          at: d.at,
          page: d.page,
          children: [...d.children],
        };
      case 'b-tree-end':
        return { kind: 'b-tree-end', id: d.id, file: d.file, at: d.at, page: d.page };
      case 'conditions': {
        const { devtools, wasmFactor, awaitExtraNs } = d;
        return { kind: 'conditions', id: 0, devtools, wasmFactor, awaitExtraNs };
      }
      case 'storage': {
        const { when, quota, usage, persisted } = d;
        return {
          kind: 'storage',
          id: 0,
          when,
          origin: this.url(d.origin),
          quota,
          usage,
          persisted,
        };
      }
      case 'channel': {
        const channel = CHANNEL_KINDS.find((one) => one === d.channel);
        if (!channel) return null;
        const isThread = channel === 'worker' || channel === 'creator';
        const key = isThread && d.key ? this.thread(d.key) : this.names.of(d.key, 'channel');
        return { kind: 'channel', id: d.id, channel, key, side: countOrZero(d.side) };
      }
      case 'database-header':
        return {
          kind: 'database-header',
          id: d.id,
          file: d.file,
          at: d.at,
          pageSize: d.pageSize,
          pages: d.pages,
          free: d.free,
          schema: d.schema,
          vacuum: d.vacuum,
        };
      case 'stack':
        if (typeof d.text !== 'string') return null;
        return {
          kind: 'stack',
          id: d.id,
          of: countOrZero(d.of),
          connection: countOrZero(d.connection),
          text: this.stack(d.text),
        };
      case 'cost': {
        const nsPerVfsEvent = typeof d.nsPerVfsEvent === 'number' ? d.nsPerVfsEvent : null;
        return {
          kind: 'cost',
          id: 0,
          nsPerJsEvent: countOrZero(d.nsPerJsEvent),
          nsPerVfsEvent,
          nsPerClockPair: countOrZero(d.nsPerClockPair),
        };
      }
      default:
        return null;
    }
  }

  /**
   * Renames functions and scripts, and keeps lines and columns. A frame that can't be parsed is
   * dropped.
   */
  private stack(text: string): string {
    return text
      .split('\n')
      .map((frame) => {
        const [, called = '', url, place] =
          /^(?:at )?(?:(.*?)(?: \(|@))?([a-z][a-z0-9+.-]*:[^()\s]*?|\/[^()\s]*?)((?::\d+){1,2})\)?$/i.exec(
            frame,
          ) ?? [];
        if (url === undefined) return '(frame taken out)';
        const name = called ? this.names.of(called, 'function') : '';
        return name ? `at ${name} (${this.url(url)}${place})` : `at ${this.url(url)}${place}`;
      })
      .join('\n');
  }
  /** Renames functions and scripts. */
  samples(samples: CpuSamples): CpuSamples {
    return {
      ...samples,
      functions: samples.functions.map((one) => ({
        name: isHarmless(one) ? one.name : this.names.of(one.name, 'function'),
        url: this.url(one.url),
        line: one.line,
        column: one.column,
        kind: one.kind,
      })),
    };
  }
  private vfs(name: string): string {
    return VFS_NAMES.has(name) ? name : this.names.of(name, 'vfs');
  }
  private engine(e: EngineInfo): EngineInfo {
    return {
      name: ENGINE_NAMES.has(e.name) ? e.name : this.names.of(e.name, 'engine '),
      sqliteVersion:
        e.sqliteVersion && /^\d{1,2}\.\d{1,3}\.\d{1,3}$/.test(e.sqliteVersion)
          ? e.sqliteVersion
          : null,
      sourceId: null, // a private build's would identify it
      suspension: oneOf(SUSPENSIONS, e.suspension, 'unknown'),
      layers: {
        vfs: e.layers.vfs === true,
        sql: e.layers.sql === true,
        counters: e.layers.counters === true,
        ...(typeof e.layers.query === 'boolean' && { query: e.layers.query }),
      },
      note: e.note ? '(text taken out)' : null,
      ...(typeof e.load === 'number' ? { load: e.load } : {}),
    };
  }
  private environment(e: ThreadEnvironment): ThreadEnvironment {
    return {
      url: this.url(e.url),
      threadKind: oneOf(THREAD_KINDS, e.threadKind, 'worker'),
      crossOriginIsolated: e.crossOriginIsolated === true,
      clockStepUs: countOrZero(e.clockStepUs),
      userAgent: mainVersion(e.userAgent),
      hidden: typeof e.hidden === 'boolean' ? e.hidden : null,
      capture: captureOptionsOf(e.capture),
    };
  }

  info({ id, kind, url, name, parent, timeOrigin }: ThreadInfo): ThreadInfo {
    const alias = this.names.of(name, 'worker');
    return {
      id: this.thread(id),
      kind,
      url: this.url(url),
      name: alias,
      parent: parent === null ? null : this.thread(parent),
      timeOrigin,
    };
  }
}

/**
 * The engine's names of wasm functions without a name, and the functions that distinguish waiting
 * from computing.
 */
const isHarmless = ({ name, kind }: CpuFunction): boolean =>
  /^wasm-function\[\d{1,9}\]$/.test(name) || (kind === 'native' && WAITING.has(name));

function unquoted(token: string): string {
  const close = token.startsWith('[') ? ']' : token[0]!;
  const inner = token.slice(1, token.length > 1 && token.endsWith(close) ? -1 : undefined);
  return close === ']' ? inner : inner.replaceAll(close + close, close);
}

/** Browser and main version only: the rest of a user agent helps to identify the user. */
function mainVersion(userAgent: string): string {
  const found = browserOf(userAgent);
  return found ? `${found.token}/${found.version.split('.', 1)[0]}` : '';
}

function copyRows(from: ThreadStore, to: ThreadStore): void {
  to.appendRows(from.events);
  to.dropped = from.dropped;
  to.missing = from.missing;
  to.faults = from.faults;
  to.received = from.received;
  to.orphanEnds = from.orphanEnds;
  to.unknownUntilUs = from.unknownUntilUs;
  to.ended = from.ended === null ? null : oneOf(ENDED, from.ended, 'ended');
}

/**
 * A copy of the trace that can be shared. Numbers are unchanged, so offsets in IndexedDB may be the
 * app's numeric keys. Analyses of the copy give the same counts and times, except where they read
 * the text of statements in `fingerprint` mode.
 */
export function sanitizeStore(store: TraceStore, options: SanitizeOptions = {}): TraceStore {
  const sanitizer = new Sanitizer(options);
  const out = new TraceStore(store.originMs);
  for (const thread of store.threads) {
    const copy = out.thread(sanitizer.info(thread.info));
    for (const d of thread.said) {
      const clean = sanitizer.definition(d);
      if (clean) copy.define(clean);
    }
    copyRows(thread, copy);
    copy.cpu = thread.cpu && sanitizer.samples(thread.cpu);
  }
  out.below = store.below; // only numbers
  return out;
}
