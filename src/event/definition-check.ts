/**
 * Checks definitions from a page or a file, which may hold anything. A well-formed one is copied
 * field by field, so that no other data is stored, compared, or written.
 */
import { isBTreeDefinition, type BTreeDefinition } from './b-tree-definitions.ts';
import { captureOptionsOf } from './capture.ts';
import type { ChannelKind } from './channels.ts';
import { isDatabaseHeader, type DatabaseHeaderDefinition } from './database-headers.ts';
import {
  FILE_KINDS,
  NOTE_TOPICS,
  SUSPENSIONS,
  THREAD_KINDS,
  type Definition,
  type EngineInfo,
  type ThreadEnvironment,
} from './definitions.ts';
import type { OwnDefinition } from './own-definitions.ts';

type Loose = Record<string, unknown>;
type Kind = Definition['kind'];

/** Characters of each text of a definition, of a thread's URL and name. */
export const MAX_TEXT = 65_536;
/** Items of a definition's list, such as the values of a statement. */
const MAX_LIST = 1000;

const isId = (v: unknown): v is number => typeof v === 'number' && v === v >>> 0;
const isNumber = (v: unknown): v is number => typeof v === 'number' && Number.isFinite(v);
const among = <T extends string>(all: readonly T[], v: unknown): T | undefined =>
  all.find((one) => one === v);
const idOr0 = (v: unknown): number => (isId(v) ? v : 0);
const numberOrNull = (v: unknown): number | null => (isNumber(v) ? v : null);

const B_TREE = ['kind', 'id', 'file', 'at', 'page'] as const;
/** Copies only these fields. */
function only<T>(d: Loose, ...keys: (keyof T & string)[]): T {
  return Object.fromEntries(
    keys.map((key) => [key, Array.isArray(d[key]) ? [...(d[key] as unknown[])] : d[key]]),
  ) as T;
}

function engineOf(
  d: Loose,
  isText: (v: unknown) => v is string,
): ({ kind: 'engine'; id: number } & EngineInfo) | null {
  const { id, name, sqliteVersion, sourceId, suspension, layers, note, load } = d;
  if (
    !isText(name) ||
    typeof layers !== 'object' ||
    layers === null ||
    (load !== undefined && !isId(load))
  )
    return null;
  const { vfs, sql, counters, query } = layers as Loose;
  const textOrNull = (v: unknown): string | null => (isText(v) ? v : null);
  return {
    kind: 'engine',
    id: id as number,
    name,
    sqliteVersion: textOrNull(sqliteVersion),
    sourceId: textOrNull(sourceId),
    suspension: among(SUSPENSIONS, suspension) ?? 'unknown',
    layers: {
      vfs: vfs === true,
      sql: sql === true,
      counters: counters === true,
      ...(typeof query === 'boolean' && { query }),
    },
    note: textOrNull(note),
    ...(load !== undefined && { load }),
  };
}

function environmentOf(
  d: Loose,
  isText: (v: unknown) => v is string,
): ({ kind: 'environment'; id: 0 } & ThreadEnvironment) | null {
  const { url, threadKind, crossOriginIsolated, clockStepUs, userAgent, hidden, capture } = d;
  const kind = among(THREAD_KINDS, threadKind);
  if (!isText(url) || !kind || !isText(userAgent) || !isNumber(clockStepUs)) return null;
  return {
    kind: 'environment',
    id: 0,
    url,
    threadKind: kind,
    crossOriginIsolated: crossOriginIsolated === true,
    clockStepUs,
    userAgent,
    hidden: typeof hidden === 'boolean' ? hidden : null,
    capture: captureOptionsOf(capture),
  };
}

/**
 * @param v what came
 * @returns the definition, with only its own fields; null if it isn't one, or comes from a later
 * writer
 */
export function checkedDefinition(v: unknown): Definition | null {
  if (typeof v !== 'object' || v === null) return null;
  const d = v as Loose;
  const { id, text } = d;
  if (!isId(id)) return null;
  const isText = (value: unknown): value is string =>
    typeof value === 'string' && value.length <= MAX_TEXT;
  const kind = d.kind as Kind;
  switch (kind) {
    case 'file': {
      const { path, fileKind, vfs, engine, flags } = d;
      if (!isText(path) || !isText(fileKind) || !isText(vfs)) return null;
      return {
        kind,
        id,
        path,
        fileKind: among(FILE_KINDS, fileKind) ?? 'other',
        vfs,
        engine: idOr0(engine),
        flags: idOr0(flags),
      };
    }
    case 'opfs-file':
      return isText(d.path) ? { kind, id, path: d.path } : null;
    case 'idb-store':
      return isText(d.db) && isText(d.store) ? { kind, id, db: d.db, store: d.store } : null;
    case 'idb-database':
      return isText(d.db) ? { kind, id, db: d.db } : null;
    case 'lock':
    case 'storage-key':
    case 'name':
    case 'message':
      return isText(text) ? { kind, id, text } : null;
    case 'sql':
      return isText(text)
        ? { kind, id, text, ...(d.truncated === true && { truncated: true }) }
        : null;
    case 'note': {
      if (!isText(d.topic) || !isText(text) || (d.url !== undefined && !isText(d.url))) return null;
      return {
        kind,
        id: 0,
        topic: among(NOTE_TOPICS, d.topic) ?? 'engine',
        text,
        ...(d.url !== undefined && { url: d.url }),
      };
    }
    case 'engine':
      return engineOf(d, isText);
    case 'environment':
      return environmentOf(d, isText);
    case 'cost':
      if (!isNumber(d.nsPerJsEvent)) return null;
      return {
        kind,
        id: 0,
        nsPerJsEvent: d.nsPerJsEvent,
        nsPerVfsEvent: numberOrNull(d.nsPerVfsEvent),
        nsPerClockPair: numberOrNull(d.nsPerClockPair) ?? 0,
      };
    case 'values':
      if (
        !isId(d.of) ||
        !Array.isArray(d.values) ||
        d.values.length > MAX_LIST ||
        !d.values.every(isText)
      )
        return null;
      return { kind, id, of: d.of, values: [...d.values] };
    case 'stack':
      return isId(d.of) && isId(d.connection) && isText(text)
        ? { kind, id, of: d.of, connection: d.connection, text }
        : null;
    case 'channel':
      return isText(d.channel) && isText(d.key) && isId(d.side)
        ? { kind, id, channel: d.channel as ChannelKind, key: d.key, side: d.side }
        : null;
    case 'b-tree-pages':
    case 'b-tree-names':
    case 'b-tree-end':
      if (!isBTreeDefinition(d)) return null;
      if (kind === 'b-tree-pages')
        return only<BTreeDefinition & { kind: typeof kind }>(d, ...B_TREE, 'children');
      if (kind === 'b-tree-end') return only<BTreeDefinition & { kind: typeof kind }>(d, ...B_TREE);
      return only<BTreeDefinition & { kind: typeof kind }>(
        d,
        ...B_TREE,
        ...(['roots', 'names', 'tables'] as const),
      );
    case 'database-header':
      if (!isDatabaseHeader(d)) return null;
      return only<DatabaseHeaderDefinition>(
        d,
        'kind',
        'id',
        'file',
        'at',
        'pageSize',
        'pages',
        'free',
        'schema',
        'vacuum',
      );
    default:
      kind satisfies OwnDefinition['kind']; // not for a page to emit, or from a later writer
      return null;
  }
}
