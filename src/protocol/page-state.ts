/**
 * The current state of the inspected page's origin, as Doctor shows it: Web Locks, quota,
 * isolation. Our function in the page reads it (page-copy/state), but the data comes from the page,
 * so `isPageState` checks it.
 */

export interface PageLock {
  name: string;
  mode: 'exclusive' | 'shared';
  /** The browser's opaque id of the page or worker. */
  client: string;
}
export interface PageState {
  origin: string;
  userAgent: string;
  /** null: locks can't be queried; `failures` has the cause. */
  locks: { held: PageLock[]; pending: PageLock[]; more: boolean } | null;
  /** The client id of this page's main thread; '' = not known. */
  client: string;
  /** Bytes; null = the browser doesn't report it. */
  quota: number | null;
  usage: number | null;
  /** Bytes by kind of storage, where the browser reports it (only Chromium). */
  usageBy: { kind: string; bytes: number }[];
  /** The browser keeps the origin's storage when the disk fills up; null = not reported. */
  persisted: boolean | null;
  secureContext: boolean;
  crossOriginIsolated: boolean;
  sharedMemory: boolean;
  opfs: boolean;
  /** JavaScript Promise Integration: WebAssembly.Suspending. */
  jspi: boolean;
  failures: string[];
}

/** Maximum number of listed locks of each kind. */
export const MOST_LOCKS = 500;

type Loose = Record<string, unknown>;
const isObject = (v: unknown): v is Loose => typeof v === 'object' && v !== null;
const isText = (v: unknown): v is string => typeof v === 'string' && v.length <= 4096;
const isFlag = (v: unknown): v is boolean => typeof v === 'boolean';
/** A browser may round: in some browsers, quotas aren't whole numbers. */
const isBytes = (v: unknown): v is number =>
  typeof v === 'number' && v >= 0 && v <= Number.MAX_SAFE_INTEGER;
const orNull =
  <T>(is: (v: unknown) => v is T) =>
  (v: unknown): v is T | null =>
    v === null || is(v);
const isList = <T>(v: unknown, of: (one: unknown) => one is T, most = 50): v is T[] =>
  Array.isArray(v) && v.length <= most && v.every(of);
const isLock = (v: unknown): v is PageLock =>
  isObject(v) &&
  isText(v.name) &&
  (v.mode === 'exclusive' || v.mode === 'shared') &&
  isText(v.client);
const isLocks = (v: unknown): v is NonNullable<PageState['locks']> =>
  isObject(v) &&
  isList(v.held, isLock, MOST_LOCKS) &&
  isList(v.pending, isLock, MOST_LOCKS) &&
  isFlag(v.more);
const isUsage = (v: unknown): v is PageState['usageBy'][number] =>
  isObject(v) && isText(v.kind) && isBytes(v.bytes);

/** What a page answered. */
export const isPageState = (v: unknown): v is PageState =>
  isObject(v) &&
  [v.origin, v.userAgent, v.client].every(isText) &&
  orNull(isLocks)(v.locks) &&
  [v.quota, v.usage].every(orNull(isBytes)) &&
  isList(v.usageBy, isUsage) &&
  orNull(isFlag)(v.persisted) &&
  [v.secureContext, v.crossOriginIsolated, v.sharedMemory, v.opfs, v.jspi].every(isFlag) &&
  isList(v.failures, isText);
