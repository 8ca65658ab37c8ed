/**
 * Findings about waiting for other threads; held-transactions.ts is about threads that let others wait.
 *
 *   F05   a lock request pending for seconds, its holder silent          F27   the holder's tab is hidden or frozen
 *   F06   BUSY BUSY BUSY ... at once, without a pause                    F39   Atomics.wait under VFS calls, longer than the storage took
 */
import { STUCK_US, WORK } from './wait-graph.ts';
import { getOrMake } from '../core/maps.ts';
import { owners } from '../core/owners.ts';
import { Op } from '../../event/event.ts';
import { codesOf } from '../../event/operations.ts';
import type { ThreadStore } from '../../trace/store.ts';
import { busyChains } from './busy.ts';
import { rootOf } from '../core/thread-origin.ts';
import { Outcome } from './lock-columns.ts';
import { locks } from './locks.ts';
import { Evidence, type FindingContext } from '../rules/context.ts';
import { measured, noSaving } from '../rules/saving.ts';
import type { Found, Rule } from '../rules/types.ts';
import { countOf, formatCount, formatDuration } from '../../text/numbers.ts';

const LOCKS = 'https://www.w3.org/TR/web-locks/';
const FEW_WAITS = 50;
/** Waits for a hidden page that are shorter are what locks take anywhere. */
const SHORT_US = 100_000;

/** Calls on IndexedDB and OPFS that serve no lock. */
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

export const hang: Rule = {
  id: 'F05',
  title: 'Hang: lock never released',
  run(ctx) {
    const { threads } = ctx.store;
    const { resources, edges, holds, waits, stuck } = ctx.get(locks);
    const none = (name: string, waiter: number, holder: number, idleUs: number) => ({
      evidence: new Evidence(),
      name,
      waiter: ctx.titles[waiter]!,
      holder: ctx.titles[holder]!,
      idleUs,
      pending: false,
    });
    const found = new Map<string, ReturnType<typeof none>>();
    const counted = new Set<number>();
    for (const { edge: place, fromUs, toUs, holderIdleUs } of stuck) {
      const { wait, waiter, holder, resource, heldUs, firstHold } = edges[place]!;
      const { kind, name } = resources[resource]!;
      const idleUs = Math.min(holderIdleUs ?? Infinity, toUs - fromUs);
      if (kind !== 'web-lock' || heldUs < STUCK_US || idleUs < STUCK_US || counted.has(wait))
        continue;
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
    }
    return [...found.values()].map((e): Found => ({
      title: `${e.waiter} waited ${formatDuration(e.evidence.us)} for the lock "${e.name}"${e.pending ? ' and never got it' : ''}, while ${e.holder} held it and did nothing for ${formatDuration(e.idleUs)}`,
      evidence: e.evidence.result(ctx),
      ...measured(e.evidence.us, 'what the requests waited'),
      confidence: e.pending ? 'certain' : 'likely',
      reason: e.pending
        ? 'the request was pending when the recording ended; the holder made no SQL, VFS or storage call meanwhile'
        : 'the lock came in the end; the holder made no SQL, VFS or storage call while the other one waited',
      advice:
        'Release the lock in a finally block, request it with a timeout (AbortSignal), and use steal where the holder may have died.',
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
      const tries = Math.max(chain.refusals, chain.steps);
      if (tries < 3 || (chain.toUs - chain.fromUs) / (tries - 1) > 500_000) continue;
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
      ...noSaving('the tries pass while another connection keeps its lock'),
      confidence: 'certain',
      reason: `each burst has three refusals or more, less than half a second apart${e.level >= 2 ? '; a lock for writing was refused' : ''}`,
      advice:
        'Begin writing transactions with BEGIN IMMEDIATE and set busy_timeout; with VFSs that have it, PRAGMA write_hint or lockPolicy "shared+hint".',
      link: 'https://www.sqlite.org/rescode.html#busy',
      tryInLab: 'writers-and-readers',
    }));
  },
};

/** Time of [fromUs, toUs) in which a thread of this page was in an SQL, VFS or storage call. */
function workOf(ctx: FindingContext, page: ThreadStore, fromUs: number, toUs: number): number {
  const calls: [number, number][] = [];
  for (const thread of ctx.store.threads) {
    if (rootOf(ctx.store, thread.index) !== page.index) continue;
    const { events } = thread;
    for (let row = 0; row < events.count && events.t0[row]! < toUs; row++) {
      const op = events.op[row]!;
      if (!WORK[op]) continue;
      const end = events.t0[row]! + events.dur[row]!;
      if (end > fromUs) calls.push([Math.max(fromUs, events.t0[row]!), Math.min(toUs, end)]);
    }
  }
  calls.sort((a, b) => a[0] - b[0]);
  let [us, until] = [0, fromUs];
  for (const [from, to] of calls) {
    us += Math.max(0, to - Math.max(until, from));
    until = Math.max(until, to);
  }
  return us;
}

/** Times in which a page was hidden or frozen. */
export function hiddenTimes(
  ctx: FindingContext,
  { events, environment, index }: ThreadStore,
): { fromUs: number; toUs: number; row: number }[] {
  const found: { fromUs: number; toUs: number; row: number }[] = [];
  const thread = ctx.store.threads[index]!;
  let since = environment?.hidden === true ? (events.t0[0] ?? 0) : -1;
  let sinceRow = 0;
  /** The page was left, and has not come back: then it is gone, not hidden. */
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
    const evidence = new Evidence();
    let [waited, holder, name] = [0, '', ''];
    for (const edge of edges) {
      const resource = resources[edge.resource]!;
      const [from, to] = [waits.from[edge.wait]!, waits.to[edge.wait]!];
      const page = threads[rootOf(ctx.store, edge.holder)]!;
      if (
        resource.kind !== 'web-lock' ||
        to - from < SHORT_US ||
        page.index === rootOf(ctx.store, edge.waiter)
      )
        continue;
      for (const hidden of hiddenTimes(ctx, page)) {
        const fromUs = Math.max(edge.fromUs, hidden.fromUs);
        const toUs = Math.min(edge.toUs, hidden.toUs);
        const us = toUs - fromUs;
        if (us < SHORT_US) continue;
        const idleUs = us - workOf(ctx, page, fromUs, toUs);
        if (idleUs < SHORT_US || idleUs < 0.5 * us) continue; // it worked all the while
        waited += us;
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
      ...measured(waited, 'what the requests waited while the holder was hidden'),
      confidence: 'likely',
      reason:
        'the holder belongs to another tab, which was hidden or in the back/forward cache at that time and did nothing for most of it',
      advice:
        'Release locks and handles on freeze and pagehide; let waiters steal a lock whose holder gives no heartbeat.',
      link: LOCKS,
      tryInLab: 'writers-and-readers',
    };
  },
};

/** Whether several tabs, or workers whose tab is not known, have one of these databases open. */
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
      if (events.op[at] === Op.xLock || events.op[at] === Op.xUnlock) return; // waiting for the lock's holder
      evidence.add(thread, row);
      waiting.add(thread.index);
      const file = ctx.file(thread, events.object[at]!);
      vfs ||= file?.vfs ?? '';
      if (file) paths.add(file.main);
    });
    if (evidence.count < FEW_WAITS) return [];
    // what the other threads spent in storage meanwhile
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
      title: `${countOf(evidence.count, 'wait')} for another thread under calls of ${vfs || 'the VFS'}: ${formatDuration(evidence.us)}, of which the storage itself took ${formatDuration(storage)}`,
      evidence: evidence.result(ctx),
      ...measured(overhead, 'time waited minus the storage calls of the other threads'),
      confidence: 'likely',
      reason:
        'Atomics.wait lies under the VFS calls, and the storage calls of the other threads add up to less',
      advice: isShared(ctx, paths)
        ? 'Use a VFS whose worker calls the storage itself and passes its handles on to other tabs (OPFSCoopSync). A pool of handles (opfs-sahpool) refuses the second tab.'
        : 'Use a VFS whose worker calls the storage itself: sync access handles in a pool (opfs-sahpool, AccessHandlePool) where one tab is all there is, else OPFSCoopSync.',
      link: 'https://sqlite.org/wasm/doc/trunk/persistence.md',
      tryInLab: 'autocommit-1000',
    };
  },
};
