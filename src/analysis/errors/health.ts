/**
 * Findings about things that break, from error messages and result codes.
 *
 *   F16   storage refused (private mode)      F30   stack or memory exhausted      F32   malformed database
 *   F33   written without the lock for it     F34   no cross-origin isolation
 */
import { DistinctPlaces } from '../core/distinct-places.ts';
import { databasePath } from '../../event/file-names.ts';
import { Op } from '../../event/event.ts';
import { opTable } from '../../event/operations.ts';
import { Evidence, type FindingContext } from '../rules/context.ts';
import { rowsByOperation } from '../core/rows-by-operation.ts';
import { rootOf } from '../core/thread-origin.ts';
import { locks } from '../locks/locks.ts';
import { noSaving } from '../rules/saving.ts';
import type { Found, Rule } from '../rules/types.ts';
import { countOf, formatDuration } from '../../text/numbers.ts';
import { hasMoved } from '../../trace/bytes-moved.ts';
import type { ThreadStore } from '../../trace/store.ts';
import { objectName } from '../../trace/describe.ts';
import { connectionKey, LockLevels, SETS_LEVEL, tookEffect } from '../../trace/lock-levels.ts';
import { LockLevel, Rc } from '../../sqlite/constants.ts';

const RELOAD_US = 2_000_000;
export const FAILURE = noSaving('a failure, not a cost');

/** Uncaught errors and rejections whose text matches. */
export function errors(ctx: FindingContext, pattern: RegExp): { evidence: Evidence; text: string } {
  const evidence = new Evidence();
  let text = '';
  ctx.each(Op.error, (thread, row) => {
    const message = objectName(thread, thread.events.object[row]!);
    if (!pattern.test(message)) return;
    evidence.add(thread, row);
    text ||= message;
  });
  return { evidence, text };
}
export const quote = (text: string): string =>
  `"${text.length > 120 ? `${text.slice(0, 119)}…` : text}"`;

/**
 * Whether a thread ended by itself, not with the recording: it reported so, or it never answered
 * the request to stop, like one that was killed.
 */
const isGone = ({ ended, unknownUntilUs }: ThreadStore): boolean =>
  ended === null ? unknownUntilUs !== null : ended !== 'stopped';
/** A page that is killed can't report that it unloads. */
export const whyGone = ({ ended }: ThreadStore): string =>
  ended === 'pagehide'
    ? "it unloaded in order, so your app or a user reloaded it: whether because of its memory isn't known"
    : 'it ended without unloading, as when a browser kills it to free memory; another crash looks the same';

/**
 * The page that was loaded at the same address soon after the last call of an ended page and its
 * workers, and how long after it; null = none.
 */
export function loadedAgain(
  { store }: FindingContext,
  gone: ThreadStore,
): { page: ThreadStore; afterUs: number } | null {
  if (!isGone(gone)) return null;
  const end = Math.max(
    ...store.threads
      .filter(({ index, events }) => events.count > 0 && rootOf(store, index) === gone.index)
      .map(({ events }) => events.t0[events.count - 1]!),
  );
  for (const page of store.threads) {
    if (page === gone || page.info.kind !== 'page' || page.info.url !== gone.info.url) continue;
    const afterUs = page.events.count > 0 ? page.events.t0[0]! - end : NaN;
    if (afterUs >= 0 && afterUs < RELOAD_US) return { page, afterUs };
  }
  return null;
}

const STORAGE_REFUSED = /\b(SecurityError|UnknownError|NotAllowedError|InvalidStateError)\b/;
const ABOUT_STORAGE = /getDirectory|storage|file ?system|indexed ?db|database|mutation|OPFS/i;

export const storageRefused: Rule = {
  id: 'F16',
  title: 'Storage gone, as in private mode',
  run(ctx) {
    const { evidence, text } = errors(ctx, STORAGE_REFUSED);
    const about = ABOUT_STORAGE.test(text);
    const early = evidence.count > 0 && evidence.fromUs - ctx.fromUs < 10_000_000;
    const worked = ctx.calls(Op.opfsRead, Op.opfsWrite, Op.idbGet, Op.idbPut) > 0;
    let failedOpens = 0;
    ctx.each(Op.idbOpen, (thread, row) => {
      if (thread.events.endSeq[row] === 0 || thread.events.result[row] === 0) return;
      failedOpens++;
      evidence.add(thread, row);
    });
    if (worked || (!(early && about) && failedOpens === 0)) return [];
    return {
      title: `The browser refused storage${failedOpens ? `: ${countOf(failedOpens, 'indexedDB.open', 'indexedDB.open calls')} failed` : ''}${text ? `: ${quote(text)}` : ''}, and none was used afterwards`,
      evidence: evidence.result(ctx),
      ...FAILURE,
      confidence: failedOpens && text ? 'likely' : 'possible',
      reason:
        "private windows and blocked cookies answer like this; the recording can't show which",
      advice: 'Test the storage when your app starts, tell users, and continue in memory.',
      link: 'https://fs.spec.whatwg.org/#dom-storagemanager-getdirectory',
    };
  },
};

export const outOfStack: Rule = {
  id: 'F30',
  title: 'Stack or memory limit',
  run(ctx) {
    const found: Found[] = [];
    const { evidence, text } = errors(
      ctx,
      /RangeError|call stack|out of memory|memory access out of bounds|unreachable executed|Aborted\(/i,
    );
    const asyncify = ctx.store.threads.some((t) =>
      t.engines.some((e) => e.suspension === 'asyncify'),
    );
    if (evidence.count)
      found.push({
        title: `${countOf(evidence.count, 'error')} of exhausted stack or memory: ${quote(text)}`,
        evidence: evidence.result(ctx),
        ...FAILURE,
        confidence: asyncify ? 'likely' : 'possible',
        reason: asyncify
          ? 'an Asyncify build stores its stack twice, and Safari allows less of it'
          : 'from the message; the code that caused it is not recorded',
        advice:
          'Use the synchronous build with a VFS on sync access handles, or raise the stack that Asyncify is built with.',
        link: 'https://emscripten.org/docs/porting/asyncify.html',
      });
    for (const thread of ctx.store.threads) {
      if (!isGone(thread) || thread.info.kind !== 'page') continue;
      const { leftBehind, holds, resources } = ctx.get(locks);
      const write = leftBehind.find(
        ({ hold, thread: index }) =>
          index === thread.index &&
          resources[holds.resource[hold]!]!.kind === 'sqlite' &&
          holds.mode[hold]! >= LockLevel.reserved,
      );
      if (!write) continue;
      const next = loadedAgain(ctx, thread);
      if (!next) continue;
      const reload = new Evidence();
      reload.add(thread, holds.row[write.hold]!);
      reload.show(next.page.index, 0);
      found.push({
        title: `The page ended in the middle of a write transaction and began again ${formatDuration(next.afterUs)} later`,
        evidence: reload.result(ctx),
        ...FAILURE,
        confidence: 'possible',
        reason: whyGone(thread),
        advice: "Watch the page's memory. Keep the database in a worker.",
        link: 'https://www.sqlite.org/malloc.html',
      });
    }
    return found;
  },
};

export const malformed: Rule = {
  id: 'F32',
  title: 'Malformed database',
  run(ctx) {
    const evidence = new Evidence();
    for (const op of [Op.sqlStep, Op.sqlExec, Op.sqlPrepare, Op.sqlOpen, Op.xRead, Op.xWrite])
      ctx.eachFailed(op, (thread, row) => {
        const rc = thread.events.result[row]! & 255;
        if (thread.events.result[row]! > 0 && (rc === Rc.corrupt || rc === Rc.notADb))
          evidence.add(thread, row);
      });
    if (evidence.count === 0) return [];
    return {
      title: `${countOf(evidence.count, 'call')} answered SQLITE_CORRUPT or SQLITE_NOTADB`,
      evidence: evidence.result(ctx),
      ...FAILURE,
      confidence: 'certain',
      reason: 'the result code says so',
      advice:
        'Save this recording. Look for two writers at once before the first such call. Restore from a copy, or with .recover.',
      link: 'https://www.sqlite.org/howtocorrupt.html',
    };
  },
};

const LOCKS_OR_WRITES = opTable(({ code }) => SETS_LEVEL[code] !== 0 || code === Op.xWrite);

export const writeWithoutLock: Rule = {
  id: 'F33',
  title: 'Lock dropped while SQLite believes it holds it',
  run(ctx) {
    const found: Found[] = [];
    for (const thread of ctx.store.threads) {
      const { events } = thread;
      // a checkpoint writes under locks of the WAL; SQLite's check for one shows nothing
      const wals = new Set<string>();
      const objects = new DistinctPlaces();
      for (const op of [Op.xOpen, Op.xRead, Op.xWrite]) {
        const rows = ctx.rows(thread, op);
        let last = -1;
        for (let i = 0; i < rows.length; i++) {
          const object = events.object[rows[i]!]!;
          if (object === last || !objects.add((last = object))) continue;
          const file = ctx.file(thread, object);
          if (file?.kind === 'wal') wals.add(databasePath(file.path));
        }
      }
      // without a recorded open, nothing can be concluded
      if (!ctx.rows(thread, Op.xOpen).length) continue;
      const levels = new LockLevels(events);
      /**
       * Connections and files whose open was recorded -> whether SQLite has requested a lock since.
       */
      const opened = new Map<number, boolean>();
      const written = () => ({ evidence: new Evidence(), path: '' });
      const [dropped, unasked] = [written(), written()];
      for (const row of ctx.get(rowsByOperation).of(thread).together(LOCKS_OR_WRITES)) {
        const op = events.op[row]!;
        const file = ctx.file(thread, events.object[row]!);
        if (file?.kind !== 'main-db' || wals.has(file.path)) continue;
        const key = connectionKey(events.object[row]!, events.context[row]!);
        if (op === Op.xOpen && tookEffect(events, row)) opened.set(key, false);
        if (!opened.has(key)) continue;
        if (op === Op.xLock) opened.set(key, true);
        if (op !== Op.xWrite) levels.take(row);
        else if (hasMoved(events, row) && levels.of(row) < LockLevel.reserved) {
          const wrong = opened.get(key) ? dropped : unasked;
          wrong.evidence.add(thread, row);
          wrong.path = file.path;
        }
        if (op === Op.xClose) opened.delete(key);
      }
      if (dropped.evidence.count)
        found.push({
          title: `${countOf(dropped.evidence.count, 'write')} to ${dropped.path} while the connection held no lock for writing`,
          evidence: dropped.evidence.result(ctx),
          ...FAILURE,
          confidence: 'certain',
          reason:
            'by every xLock and xUnlock since the file was opened the level was below RESERVED',
          advice:
            'Save this recording for the author of the VFS. Another tab may have written at the same time.',
          link: 'https://www.sqlite.org/lockingv3.html',
        });
      // an engine with its own kind of locks has no xLock at all
      if (unasked.evidence.count && ctx.rows(thread, Op.xLock).length)
        found.push({
          title: `${countOf(unasked.evidence.count, 'write')} to ${unasked.path} on a connection that takes no locks`,
          evidence: unasked.evidence.result(ctx),
          ...FAILURE,
          confidence: 'possible',
          reason:
            "SQLite has called xLock for none of them, as with nolock=1; vfscope doesn't check whether another connection has the file open",
          advice:
            'Leave nolock=1 out unless no other connection can open the file: two that write at once damage it.',
          link: 'https://www.sqlite.org/uri.html#urinolock',
        });
    }
    return found;
  },
};

export const notIsolated: Rule = {
  id: 'F34',
  title: 'COOP and COEP missing',
  run(ctx) {
    const plain = ctx.store.threads.filter((t) => t.environment?.crossOriginIsolated === false);
    if (plain.length === 0) return [];
    const { evidence, text } = errors(ctx, /SharedArrayBuffer|COOP|COEP|cross-?origin.?isolat/i);
    const fallback = plain.filter((t) => t.engines.some((e) => e.name === 'absurd-sql'));
    if (evidence.count === 0 && fallback.length === 0) return [];
    for (const t of fallback) evidence.show(t.index, t.events.count ? 0 : -1);
    return {
      title: `The page is not cross-origin isolated, which ${fallback.length ? 'absurd-sql' : 'its storage'} needs${text ? `: ${quote(text)}` : ': it falls back to keeping the whole file in memory'}`,
      evidence: { ...evidence.result(ctx), count: Math.max(evidence.count, fallback.length) },
      ...FAILURE,
      confidence: evidence.count ? 'certain' : 'likely',
      reason: evidence.count
        ? 'the error names it, and crossOriginIsolated is false'
        : 'crossOriginIsolated is false, and the engine shares memory between threads where it can',
      advice:
        'Send Cross-Origin-Opener-Policy: same-origin and Cross-Origin-Embedder-Policy: require-corp, or use a VFS that needs neither (sync access handles in a pool).',
      link: 'https://html.spec.whatwg.org/multipage/browsers.html#cross-origin-opener-policies',
    };
  },
};
