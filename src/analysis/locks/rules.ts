/**
 * Findings about waiting for other threads; held-transactions.ts is about threads that make others
 * wait.
 *
 *   F05   a lock request is pending for seconds while its holder does nothing
 *   F06   BUSY BUSY BUSY ... without a pause
 *   F27   the holder's tab is hidden or frozen
 *   F39   Atomics.wait below VFS calls takes longer than the storage calls
 */
import { BUSY_BURST } from '../../sqlite/rule-limits.ts';
import { STUCK_US, type WaitEdge } from './wait-graph.ts';
import { lockWaits } from './lock-waits.ts';
import { whatPagesDid, type Meanwhile } from './meanwhile.ts';
import { getOrMake } from '../core/maps.ts';
import { owners } from '../core/owners.ts';
import { Op } from '../../event/event.ts';
import { codesOf } from '../../event/operations.ts';
import type { ThreadStore } from '../../trace/store.ts';
import { busyChains, refusalsWithoutPause } from './busy.ts';
import { rootOf } from '../core/thread-origin.ts';
import { Outcome } from './lock-columns.ts';
import { locks } from './locks.ts';
import { Evidence, type FindingContext } from '../rules/context.ts';
import { measured, noSaving } from '../rules/saving.ts';
import { SURE, type Confidence, type Found, type Rule } from '../rules/types.ts';
import { countOf, formatCount, formatDuration } from '../../text/numbers.ts';

const LOCKS = 'https://www.w3.org/TR/web-locks/';
const FEW_WAITS = 50;
/** Shorter waits for a hidden page are normal for locks. */
const SHORT_US = 100_000;

/** Calls on IndexedDB and OPFS that don't serve a lock. */
const STORAGE = codesOf(
  ({ code, api, aside }) =>
    (api === 'idb' || api === 'opfs') &&
    !aside &&
    code !== Op.idbOpen &&
    code !== Op.idbDeleteDatabase &&
    code !== Op.idbTransaction &&
    code !== Op.opfsOpenSyncAccessHandle &&
    code !== Op.opfsClose,
);

/** Indices of the waits for which SQLite is blocked inside a call. */
const waitsOfSqlite = (ctx: FindingContext): ReadonlySet<number> =>
  new Set(ctx.get(lockWaits).flatMap(({ sqlite, wait }) => (sqlite ? [wait] : [])));

/**
 * Whether a wait blocks its page. SQLite's waits inside a call do. A lock that the app itself
 * requests may not: tabs that elect a leader all request one lock, and keep working as followers.
 * The calls of their pages show that.
 */
const standsStill = (
  sqlites: ReadonlySet<number>,
  { wait }: WaitEdge,
  { waiterWorks }: Meanwhile,
): boolean => sqlites.has(wait) || !waiterWorks;

/**
 * How certain a hang is. A request that is pending when the recording ends looks the same if it
 * hangs, or if the app elects a leader while the user pauses. Only if SQLite waits inside a call is
 * it certain that something is blocked. A lock that was granted in the end was waited for.
 */
const HANGS: Readonly<Record<Confidence, string>> = {
  certain:
    "SQLite was waiting inside a call when the recording ended; the holder's page and its workers made no SQL, VFS, or storage call in that time",
  likely:
    "the lock came in the end; the holder's page and its workers made no SQL, VFS, or storage call while the other one waited",
  possible:
    'neither the page that waits nor the one that holds the lock made an SQL, VFS, or storage call until the recording ended; a lock that elects a leader looks the same while both are idle',
};

export const hang: Rule = {
  id: 'F05',
  title: 'Hang: lock never released',
  run(ctx) {
    const { threads } = ctx.store;
    const { resources, edges, holds, waits, stuck } = ctx.get(locks);
    const sqlites = waitsOfSqlite(ctx);
    const none = (name: string, waiter: number, holder: number, idleUs: number) => ({
      evidence: new Evidence(),
      name,
      waiter: ctx.titles[waiter]!,
      holder: ctx.titles[holder]!,
      idleUs,
      pending: false,
      hangs: 'possible' as Confidence,
      savingUs: 0,
    });
    const found = new Map<string, ReturnType<typeof none>>();
    const counted = new Set<number>();
    for (const one of stuck) {
      const edge = edges[one.edge]!;
      const { wait, waiter, holder, resource, heldUs, firstHold } = edge;
      const { kind, name } = resources[resource]!;
      const idleUs = Math.min(one.holderIdleUs ?? Infinity, one.toUs - one.fromUs);
      if (kind !== 'web-lock' || heldUs < STUCK_US || idleUs < STUCK_US || counted.has(wait))
        continue;
      if (!standsStill(sqlites, edge, one)) continue;
      counted.add(wait);
      const entry = getOrMake(found, `${waiter} ${resource}`, () =>
        none(name, waiter, holder, idleUs),
      );
      const { from, to, row, outcome } = waits;
      const pending = outcome[wait] === Outcome.open;
      entry.evidence.add(threads[waiter]!, row[wait]!);
      if (pending) {
        entry.evidence.us += to[wait]! - from[wait]!; // the call has no end
        entry.evidence.ran(threads[waiter]!, from[wait]!, to[wait]!);
      }
      entry.evidence.span(from[wait]!, to[wait]!);
      entry.evidence.show(holder, holds.row[firstHold]!);
      entry.idleUs = Math.max(entry.idleUs, idleUs);
      entry.pending ||= pending;
      const hangs = !pending ? 'likely' : sqlites.has(wait) ? 'certain' : 'possible';
      if (SURE[hangs] < SURE[entry.hangs]) entry.hangs = hangs;
      if (hangs !== 'possible') entry.savingUs += to[wait]! - from[wait]!;
    }
    return [...found.values()].map((e): Found => ({
      title: `${e.waiter} waited ${formatDuration(e.evidence.us)} for the lock "${e.name}"${e.pending ? ' and never got it' : ''}, while ${e.holder} held it and did nothing for ${formatDuration(e.idleUs)}`,
      evidence: e.evidence.result(ctx),
      ...(e.hangs === 'possible'
        ? noSaving(
            'the request was pending when the recording ended, and nothing shows that it is in the way',
          )
        : measured(e.savingUs, 'what the requests waited')),
      confidence: e.hangs,
      reason: HANGS[e.hangs],
      advice:
        'Release the lock in a finally block, and request it with a timeout (AbortSignal). Use steal only where the old holder can no longer write.',
      link: LOCKS,
      tryInLab: 'writers-and-readers',
    }));
  },
};

export const busyStorm: Rule = {
  id: 'F06',
  title: 'BUSY storm without backoff',
  run(ctx) {
    const none = (path: string) => ({
      evidence: new Evidence(),
      path,
      refusals: 0,
      chains: 0,
      granted: 0,
      level: 0,
    });
    const byConnection = new Map<string, ReturnType<typeof none>>();
    for (const chain of ctx.get(busyChains)) {
      const tries = Math.max(refusalsWithoutPause(chain), chain.steps);
      const apartUs = (chain.toUs - chain.fromUs) / (tries - 1);
      if (tries < BUSY_BURST.tries || apartUs > BUSY_BURST.apartMs * 1000) continue;
      const key = `${chain.thread} ${chain.context}`;
      const entry = getOrMake(byConnection, key, () => none(chain.path));
      entry.refusals += tries;
      entry.chains++;
      entry.granted += chain.granted ? 1 : 0;
      entry.level = Math.max(entry.level, chain.level);
      entry.evidence.count += tries;
      entry.evidence.us += chain.toUs - chain.fromUs;
      entry.evidence.span(chain.fromUs, chain.toUs);
      entry.evidence.show(chain.thread, chain.firstRow);
      entry.evidence.show(chain.thread, chain.lastRow);
    }
    return [...byConnection.values()].map((e): Found => ({
      title: `${countOf(e.refusals, 'SQLITE_BUSY answer')} in ${countOf(e.chains, 'burst')} on ${e.path || 'a connection'}, ${formatDuration(e.evidence.us)} of trying; ${formatCount(e.granted)} of them got the lock in the end`,
      evidence: e.evidence.result(ctx),
      ...noSaving('the retries run out while another connection holds its lock'),
      confidence: 'certain',
      reason: `each burst has three refusals or more, less than half a second apart${e.level >= 2 ? '; a lock for writing was refused' : ''}`,
      advice:
        'Begin writing transactions with BEGIN IMMEDIATE and set busy_timeout. With wa-sqlite\'s lockPolicy "shared+hint", run PRAGMA write_hint before each BEGIN IMMEDIATE.',
      sql: 'PRAGMA busy_timeout=5000;\nBEGIN IMMEDIATE;',
      link: 'https://www.sqlite.org/rescode.html#busy',
      tryInLab: 'writers-and-readers',
    }));
  },
};

/** Times in which a page was hidden or frozen. */
export function hiddenTimes(
  ctx: FindingContext,
  { events, environment, index }: ThreadStore,
): { fromUs: number; toUs: number; row: number }[] {
  const found: { fromUs: number; toUs: number; row: number }[] = [];
  const thread = ctx.store.threads[index]!;
  let since = environment?.hidden === true ? (events.t0[0] ?? 0) : -1;
  let sinceRow = 0;
  /** The page was left and hasn't come back, so it is gone, not hidden. */
  let leftUs = Infinity;
  const rows = [...ctx.rows(thread, Op.visibility), ...ctx.rows(thread, Op.navigation)].sort(
    (a, b) => a - b,
  );
  for (const row of rows) {
    const aux = events.aux[row]!;
    const hides = events.op[row] === Op.visibility ? aux === 1 : aux === 3;
    const shows = events.op[row] === Op.visibility ? aux === 0 : aux === 2;
    if (events.op[row] === Op.navigation && aux === 1) leftUs = events.t0[row]!;
    if (hides && since < 0) [since, sinceRow] = [events.t0[row]!, row];
    else if (shows) {
      if (since >= 0) found.push({ fromUs: since, toUs: events.t0[row]!, row: sinceRow });
      [since, leftUs] = [-1, Infinity];
    }
  }
  const toUs = Math.min(leftUs, ctx.endOf(thread));
  if (since >= 0 && toUs > since) found.push({ fromUs: since, toUs, row: sinceRow });
  return found;
}

export const frozenHolder: Rule = {
  id: 'F27',
  title: 'Frozen or hidden tab holds the lock',
  run(ctx) {
    if (ctx.calls(Op.visibility, Op.navigation) === 0) return [];
    const { threads } = ctx.store;
    const { resources, edges, waits } = ctx.get(locks);
    const did = ctx.get(whatPagesDid);
    const sqlites = waitsOfSqlite(ctx);
    const evidence = new Evidence();
    let [waited, over, holder, name, inTheWay] = [0, 0, '', '', false];
    for (const edge of edges) {
      const resource = resources[edge.resource]!;
      const [from, to] = [waits.from[edge.wait]!, waits.to[edge.wait]!];
      const page = threads[rootOf(ctx.store, edge.holder)]!;
      if (
        resource.kind !== 'web-lock' ||
        to - from < SHORT_US ||
        page.index === rootOf(ctx.store, edge.waiter) ||
        !standsStill(sqlites, edge, did.meanwhile(edge, edge.fromUs, edge.toUs))
      )
        continue;
      for (const hidden of hiddenTimes(ctx, page)) {
        const fromUs = Math.max(edge.fromUs, hidden.fromUs);
        const toUs = Math.min(edge.toUs, hidden.toUs);
        const us = toUs - fromUs;
        if (us < SHORT_US) continue;
        const { holderIdleUs } = did.meanwhile(edge, fromUs, toUs);
        const idleUs = Math.min(holderIdleUs ?? Infinity, us);
        if (idleUs < SHORT_US || idleUs < 0.5 * us) continue; // it worked for most of the time
        const pending = waits.outcome[edge.wait] === Outcome.open;
        waited += idleUs;
        if (!pending) over += idleUs;
        inTheWay ||= !pending || sqlites.has(edge.wait);
        [holder, name] = [ctx.titles[page.index]!, resource.name];
        evidence.add(threads[edge.waiter]!, waits.row[edge.wait]!);
        evidence.span(from, to);
        evidence.show(page.index, hidden.row);
      }
    }
    if (evidence.count === 0) return [];
    return {
      title: `${countOf(evidence.count, 'request')} for the lock "${name}" waited ${formatDuration(waited)} for ${holder}, which was hidden or frozen`,
      evidence: {
        ...evidence.result(ctx),
        timeShare: ctx.toUs > ctx.fromUs ? Math.min(1, waited / (ctx.toUs - ctx.fromUs)) : null,
      },
      ...(over > 0
        ? measured(
            over,
            'what the requests that got the lock waited while the holder was hidden and did nothing',
          )
        : noSaving('no request got the lock before the recording ended')),
      confidence: inTheWay ? 'likely' : 'possible',
      reason: `the holder belongs to another tab, which was hidden or in the back/forward cache at that time and did nothing for most of it${inTheWay ? '' : '; a lock that elects a leader looks the same while both tabs are idle'}`,
      advice:
        'Release locks and handles on freeze and pagehide. Let waiters steal a lock whose holder gives no heartbeat.',
      link: LOCKS,
      tryInLab: 'writers-and-readers',
    };
  },
};

/** Whether several tabs, or workers whose tab isn't known, have one of these databases open. */
function isShared({ store }: FindingContext, paths: ReadonlySet<string>): boolean {
  const roots = new Set<number>();
  for (const { definitions, index } of store.threads)
    for (const d of definitions.values())
      if (d.kind === 'file' && d.fileKind === 'main-db' && paths.has(d.path))
        roots.add(rootOf(store, index));
  return roots.size > 1;
}

export const proxyOverhead: Rule = {
  id: 'F39',
  title: 'Overhead of an asynchronous proxy',
  run(ctx) {
    const evidence = new Evidence();
    const waiting = new Set<number>();
    const paths = new Set<string>();
    let vfs = '';
    ctx.each(Op.atomicsWait, (thread, row) => {
      const { events } = thread;
      const at = ctx.get(owners).of(thread).vfs(row);
      if (at < 0) return;
      // waiting for the lock's holder
      if (events.op[at] === Op.xLock || events.op[at] === Op.xUnlock) return;
      evidence.add(thread, row);
      waiting.add(thread.index);
      const file = ctx.file(thread, events.object[at]!);
      vfs ||= file?.vfs ?? '';
      if (file) paths.add(file.main);
    });
    if (evidence.count < FEW_WAITS) return [];
    // what the other threads spent in storage during that time
    let [storage, calls] = [0, 0];
    for (const op of STORAGE) {
      ctx.each(op, (thread, row) => {
        const { events } = thread;
        if (
          waiting.has(thread.index) ||
          events.t0[row]! < evidence.fromUs ||
          events.t0[row]! > evidence.toUs
        )
          return;
        storage += events.dur[row]!;
        calls++;
      });
    }
    const overhead = evidence.us - storage;
    if (calls === 0 || overhead < 0.2 * evidence.us) return [];
    return {
      title: `Calls of ${vfs || 'the VFS'} waited for another thread ${countOf(evidence.count, 'time')}, ${formatDuration(evidence.us)} in total. Storage took only ${formatDuration(storage)} of that`,
      evidence: evidence.result(ctx),
      ...measured(overhead, 'time waited minus the storage calls of the other threads'),
      confidence: 'likely',
      reason:
        'the VFS calls wait in Atomics.wait, and the storage calls of the other threads add up to less',
      advice: isShared(ctx, paths)
        ? 'Use a VFS whose worker calls the storage itself and passes its handles on to other tabs (OPFSCoopSync). A pool of handles (opfs-sahpool) refuses the second tab.'
        : 'Use a VFS whose worker calls the storage itself: sync access handles in a pool (opfs-sahpool, AccessHandlePool) if only one tab uses the database, else OPFSCoopSync.',
      link: 'https://sqlite.org/wasm/doc/trunk/persistence.md',
      tryInLab: 'autocommit-1000',
    };
  },
};
