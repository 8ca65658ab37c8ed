/**
 * Findings about sync access handles of OPFS.
 *
 *   F03   another tab or worker has the file
 *   F04   an ended tab or worker left a handle open
 *   F35   the pool has no handle left
 *   F37   hundreds of handles are open, and the next one fails
 *   F38   open, close, open ...
 */
import { getOrMake, grouped } from '../core/maps.ts';
import { Op } from '../../event/event.ts';
import { Evidence, type FindingContext } from '../rules/context.ts';
import { noSaving, Saving } from '../rules/saving.ts';
import { objectName } from '../../trace/describe.ts';
import type { ThreadStore } from '../../trace/store.ts';
import { Outcome } from '../locks/lock-columns.ts';
import { handlePools } from '../locks/handle-pools.ts';
import { locks, placesOf, type Locks } from '../locks/locks.ts';
import type { WaitEdge } from '../locks/wait-graph.ts';
import type { Found, Rule } from '../rules/types.ts';
import { countOf, formatCount, formatDuration } from '../../text/numbers.ts';
import { Rc } from '../../sqlite/constants.ts';

const SPEC = 'https://fs.spec.whatwg.org/#api-filesystemfilehandle-createsyncaccesshandle';
/**
 * A handle of an ended context is released within moments. Refusals this long after must be its
 * fault.
 */
const AFTER_US = 5_000_000;
const MANY_HANDLES = 200;
const FEW_CYCLES = 10;
const CYCLES_A_SECOND = 2;

/** Path of the file that a call is on. */
function pathAt(ctx: FindingContext, index: number, row: number): string {
  const thread = ctx.store.threads[index]!;
  return objectName(thread, thread.events.object[row]!);
}

/** Whether a thread was ended from outside before: a busy worker runs on for some time. */
const hadEnded = ({ ended, unknownUntilUs }: ThreadStore, us: number): boolean =>
  ended !== null && ended !== 'stopped' && unknownUntilUs !== null && unknownUntilUs <= us;

/** Refused handles whose file no thread had open that was still running. */
function unexplained(ctx: FindingContext, all: Locks): number[] {
  const { edges, waits } = all;
  const { threads } = ctx.store;
  const explained = new Set<number>();
  for (const { wait, holder } of edges)
    if (!hadEnded(threads[holder]!, waits.from[wait]!)) explained.add(wait);
  return placesOf(all, waits, 'access-handle').filter(
    (wait) => waits.outcome[wait] === Outcome.refused && !explained.has(wait),
  );
}

/** Refused calls on a file. */
interface Refused {
  evidence: Evidence;
  resource: number;
  path: string;
  holders: Set<number>;
  waiters: Set<number>;
}

/** `Worker (2) and 3 others` */
const withOthers = ({ titles }: FindingContext, threads: ReadonlySet<number>): string => {
  const [first] = threads;
  return `${titles[first!]!}${threads.size > 1 ? ` and ${countOf(threads.size - 1, 'other')}` : ''}`;
};

/**
 * Joins the files of a pool, which an app doesn't know by their names.
 * @param keyOf files with another key are separate
 */
function byPool<T extends Refused>(
  ctx: FindingContext,
  list: readonly T[],
  keyOf: (refused: T) => string = () => '',
) {
  const pools = ctx.get(handlePools);
  const groups = grouped(list, (refused) => {
    const place = pools[refused.resource] || refused.resource;
    return `${keyOf(refused)} ${place}`;
  });
  return [...groups.values()].map((files) => {
    const [{ path, resource, holders }] = files as [T];
    const evidence = new Evidence();
    for (const one of files) evidence.join(one.evidence);
    const waiters = new Set(files.flatMap((one) => [...one.waiters]));
    const who = `${withOthers(ctx, waiters)} ${waiters.size > 1 ? 'were' : 'was'}`;
    const what =
      files.length > 1
        ? `${countOf(files.length, 'file')} in ${pools[resource]!}`
        : `${path} ${countOf(evidence.count, 'time')}`;
    return { evidence, files, holder: withOthers(ctx, holders), text: `${who} refused ${what}` };
  });
}

export const lockedOut: Rule = {
  id: 'F03',
  title: 'Second tab or worker cannot open',
  run(ctx) {
    const { threads } = ctx.store;
    const all = ctx.get(locks);
    const { edges, resources, holds, waits } = all;
    const handles = placesOf(all, holds, 'access-handle');
    const found = new Map<string, Refused & { opened: boolean }>();
    const refused = ({ wait, waiter, holder, resource }: WaitEdge) => ({
      evidence: new Evidence(),
      resource,
      path: pathAt(ctx, waiter, waits.row[wait]!),
      holders: new Set([holder]),
      waiters: new Set([waiter]),
      // some VFSs share a file by retrying until it works
      opened: handles.some(
        (h) =>
          holds.resource[h] === resource &&
          holds.thread[h] === waiter &&
          holds.from[h]! > waits.to[wait]!,
      ),
    });
    const counted = new Set<number>();
    for (const edge of edges) {
      const { wait, waiter, holder, resource, firstHold } = edge;
      const { kind } = resources[resource]!;
      if (kind !== 'access-handle' || waits.outcome[wait] !== Outcome.refused || counted.has(wait))
        continue;
      if (hadEnded(threads[holder]!, waits.from[wait]!)) continue; // F04
      counted.add(wait);
      const entry = getOrMake(found, `${waiter} ${resource}`, () => refused(edge));
      entry.evidence.add(threads[waiter]!, waits.row[wait]!);
      entry.evidence.show(holder, holds.row[firstHold]!);
    }
    const never = [...found.values()].filter(({ opened }) => !opened);
    return byPool(ctx, never, ({ holders, waiters }) => [...waiters, ...holders].join()).map(
      ({ evidence, files, text, holder }): Found => ({
        title:
          files.length > 1
            ? `${text} and never got them: ${holder} has them open`
            : `${text} and never got it: ${holder} has it open`,
        evidence: evidence.result(ctx),
        ...noSaving('the app could not open its file at all'),
        confidence: 'certain',
        reason:
          'createSyncAccessHandle failed while another handle on the same file of the same origin was open in this recording',
        advice:
          'Let one worker own the database: elect it by Web Locks, or use a SharedWorker. Or use a VFS that shares handles. If you wrote the VFS yourself: Chromium\'s mode "readwrite-unsafe" opens several handles, but then the VFS must take locks itself.',
        link: SPEC,
        tryInLab: 'writers-and-readers',
      }),
    );
  },
};

export const handleLeftBehind: Rule = {
  id: 'F04',
  title: 'Handle still held after reload or close',
  run(ctx) {
    const { threads } = ctx.store;
    const all = ctx.get(locks);
    const { holds, waits, leftBehind } = all;
    const found = new Map<number, Refused & { reason: string; ranOn: boolean }>();
    for (const wait of unexplained(ctx, all)) {
      const thread = threads[waits.thread[wait]!]!;
      const { [wait]: us = 0 } = waits.from;
      const left = leftBehind.find(({ hold, thread: holder }) => {
        if (holds.resource[hold] !== waits.resource[wait] || holder === thread.index) return false;
        const { [hold]: lastUs = 0 } = holds.to;
        if (lastUs <= us) return us - lastUs < AFTER_US;
        const ended = threads[holder]!;
        return hadEnded(ended, us) && us - ended.unknownUntilUs! < AFTER_US;
      });
      if (!left) continue;
      const { hold, thread: holder, reason } = left;
      const entry = getOrMake(found, waits.resource[wait]!, () => ({
        evidence: new Evidence(),
        resource: waits.resource[wait]!,
        path: pathAt(ctx, holder, holds.row[hold]!),
        holders: new Set<number>(),
        waiters: new Set<number>(),
        reason,
        ranOn: false,
      }));
      entry.evidence.add(thread, waits.row[wait]!);
      entry.waiters.add(thread.index);
      entry.holders.add(holder);
      entry.ranOn ||= holds.to[hold]! > us;
    }
    return byPool(ctx, [...found.values()]).map(({ evidence, files, text, holder }): Found => ({
      title: `${text} within 5 s after ${holder} had ended without closing ${files.length > 1 ? 'them' : 'it'} (${files[0]!.reason})`,
      evidence: evidence.result(ctx),
      ...noSaving("the recording can't show how long the browser holds the handle"),
      confidence: 'likely',
      reason: files.some(({ ranOn }) => ranOn)
        ? 'the one before ended with its handle open. It was busy, and Chromium lets a busy worker run for about 2 s after terminate()'
        : 'no other thread in this recording has the file open, and the one before ended with its handle open',
      advice:
        'Let the worker close its database before you end it: by a message before terminate(), and on pagehide. When opening, try again with a growing pause.',
      link: SPEC,
    }));
  },
};

export const poolFull: Rule = {
  id: 'F35',
  title: 'The pool of access handles is full',
  run(ctx) {
    const evidence = new Evidence();
    const paths = new Set<string>();
    let vfs = '';
    ctx.each(Op.xOpen, (thread, row) => {
      const { events } = thread;
      const file = ctx.file(thread, events.object[row]!);
      if (
        !file ||
        !/sah-?pool|AccessHandlePool/i.test(file.vfs) ||
        (events.result[row]! & 255) !== Rc.cantOpen
      )
        return;
      evidence.add(thread, row);
      paths.add(file.path);
      ({ vfs } = file);
    });
    if (evidence.count === 0) return [];
    const all = ctx.get(locks);
    const handles = placesOf(all, all.holds, 'access-handle').length;
    return {
      title: `${vfs} could not open ${[...paths].slice(0, 3).join(', ')}: its pool of ${countOf(handles, 'handle')} has none left`,
      evidence: evidence.result(ctx),
      ...noSaving('the file could not be opened at all'),
      confidence: handles > 0 ? 'likely' : 'possible',
      reason:
        'xOpen answered SQLITE_CANTOPEN on a VFS with a fixed pool of files; journals and temporary files take places in it',
      advice:
        'Reserve more (reserveMinimumCapacity), and set temp_store=memory so that temporary files take none.',
      link: 'https://sqlite.org/wasm/doc/trunk/persistence.md#vfs-opfs-sahpool',
    };
  },
};

export const tooManyHandles: Rule = {
  id: 'F37',
  title: 'Limit of open handles',
  run(ctx) {
    const all = ctx.get(locks);
    const { holds, waits } = all;
    const handles = placesOf(all, holds, 'access-handle');
    if (handles.length < MANY_HANDLES) return [];
    const evidence = new Evidence();
    let most = 0;
    for (const wait of unexplained(ctx, all)) {
      const us = waits.from[wait]!;
      const open = handles.filter((h) => holds.from[h]! <= us && holds.to[h]! > us).length;
      if (open < MANY_HANDLES) continue;
      most = Math.max(most, open);
      evidence.add(ctx.store.threads[waits.thread[wait]!]!, waits.row[wait]!);
    }
    if (evidence.count === 0) return [];
    return {
      title: `createSyncAccessHandle failed ${countOf(evidence.count, 'time')} with ${formatCount(most)} handles open`,
      evidence: evidence.result(ctx),
      ...noSaving('the files could not be opened at all'),
      confidence: 'likely',
      reason:
        'no other handle on the same files is seen; Safari allows 252, Linux 1,024 open files in a process',
      advice: 'Keep fewer files open: fewer databases, or a smaller pool.',
      link: SPEC,
    };
  },
};

export const handleChurn: Rule = {
  id: 'F38',
  title: 'createSyncAccessHandle is expensive',
  run(ctx) {
    const all = ctx.get(locks);
    const { holds } = all;
    const { thread, row, resource, outcome, from, to } = holds;
    const opened = placesOf(all, holds, 'access-handle').filter((h) => {
      const opening = ctx.store.threads[thread[h]!]!.events.op[row[h]!];
      return outcome[h] === Outcome.done && opening === Op.opfsOpenSyncAccessHandle;
    });
    const cycles = grouped(opened, (h) => `${thread[h]} ${resource[h]}`);
    return [...cycles.values()].flatMap((list): Found | [] => {
      const opener = ctx.store.threads[thread[list[0]!]!]!;
      const { object } = opener.events;
      const [opens, closes] = [new Evidence(), new Evidence()];
      for (const h of list) opens.add(opener, row[h]!);
      const handles = new Set(list.map((h) => object[row[h]!]));
      for (const close of ctx.rows(opener, Op.opfsClose))
        if (handles.has(object[close])) closes.add(opener, close);
      const [openCost, closeCost] = [opens.cost, closes.cost];
      const evidence = opens.join(closes);
      evidence.count = list.length; // pairs
      const us = to[list.at(-1)!]! - from[list[0]!]!;
      if (list.length < FEW_CYCLES || list.length < (CYCLES_A_SECOND * us) / 1e6) return [];
      return {
        title: `${pathAt(ctx, opener.index, row[list[0]!]!)} was opened and closed ${countOf(list.length, 'time')} in ${formatDuration(us)} by ${ctx.titles[opener.index]!}`,
        evidence: evidence.result(ctx),
        ...new Saving(ctx)
          .avoid(
            list.length - 1,
            Op.opfsOpenSyncAccessHandle,
            'createSyncAccessHandle',
            '',
            openCost,
          )
          .avoid(list.length - 1, Op.opfsClose, 'close', '', closeCost)
          .result(),
        confidence: 'likely',
        reason:
          'every pair of createSyncAccessHandle and close was recorded; how many remain depends on when other threads need the file',
        advice:
          'Keep the handle until another thread asks for the file, as cooperative VFSs do, or hold it for longer transactions.',
        link: SPEC,
        tryInLab: 'writers-and-readers',
      };
    });
  },
};
