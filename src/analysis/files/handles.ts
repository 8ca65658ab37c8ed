/**
 * Findings about sync access handles of OPFS.
 *
 *   F03   another tab or worker has the file          F04   a handle was left open by one that has gone
 *   F35   the pool has no handle left                 F37   hundreds of handles, and the next one fails         F38   open, close, open ...
 */
import { Op } from '../../event/event.ts';
import { Evidence } from '../rules/context.ts';
import { noSaving, Saving } from '../rules/saving.ts';
import { accessHandles, byKey, holdersOf, nameOf, type Held, type Refused } from './handle-scan.ts';
import type { Finding, Rule } from '../rules/types.ts';
import { countOf, formatCount } from '../../text/numbers.ts';

const SPEC = 'https://fs.spec.whatwg.org/#api-filesystemfilehandle-createsyncaccesshandle';
/** A handle of a context that has gone is given back within moments; refusals so long after are its fault. */
const AFTER_US = 5_000_000;
const MANY_HANDLES = 200;
const FEW_CYCLES = 10;
const CYCLES_A_SECOND = 2;

export const lockedOut: Rule = {
  id: 'F03',
  title: 'Second tab or worker cannot open',
  run(ctx) {
    const { held, refused } = ctx.get(accessHandles);
    if (refused.length === 0) return [];
    const index = byKey(held);
    const found = new Map<
      string,
      { evidence: Evidence; name: string; holder: Held; thread: Refused['thread']; opened: boolean }
    >();
    for (const r of refused) {
      const [holder] = holdersOf(index, r);
      if (!holder) continue;
      const key = `${r.thread.index}\0${r.key}`;
      let entry = found.get(key);
      if (!entry) {
        // trying until it works is how some VFSs share a file
        const opened = (index.get(r.key) ?? []).some(
          (h) => h.thread === r.thread && h.fromUs > r.toUs,
        );
        found.set(
          key,
          (entry = { evidence: new Evidence(), name: r.name, holder, thread: r.thread, opened }),
        );
      }
      entry.evidence.add(r.thread, r.row);
      entry.evidence.show(holder.thread.index, holder.row);
    }
    return [...found.values()]
      .filter((e) => !e.opened)
      .map(({ evidence, name, holder, thread }): Finding => ({
        rule: 'F03',
        title: `${nameOf(thread)} was refused ${name} ${countOf(evidence.count, 'time')} and never got it: ${nameOf(holder.thread)} has it open`,
        evidence: evidence.result(ctx),
        ...noSaving('the app could not open its file at all'),
        confidence: 'certain',
        reason:
          'createSyncAccessHandle failed while another handle on the same file of the same origin was open in this recording',
        advice:
          'Let one worker own the database (a leader elected by Web Locks, or a SharedWorker), or use a VFS that shares handles; mode "readwrite-unsafe" exists in Chromium.',
        link: SPEC,
        tryInLab: 'writers-and-readers',
      }));
  },
};

export const handleLeftBehind: Rule = {
  id: 'F04',
  title: 'Handle still held after reload or close',
  run(ctx) {
    const { held, refused } = ctx.get(accessHandles);
    if (refused.length === 0) return [];
    const index = byKey(held);
    const found = new Map<string, { evidence: Evidence; left: Held; thread: Refused['thread'] }>();
    for (const r of refused) {
      if (holdersOf(index, r).length) continue;
      const left = (index.get(r.key) ?? []).find(
        (h) =>
          !h.closed && h.toUs <= r.fromUs && r.fromUs - h.toUs < AFTER_US && h.thread !== r.thread,
      );
      if (!left) continue;
      let entry = found.get(r.key);
      if (!entry) found.set(r.key, (entry = { evidence: new Evidence(), left, thread: r.thread }));
      entry.evidence.add(r.thread, r.row);
    }
    return [...found.values()].map(({ evidence, left, thread }): Finding => ({
      rule: 'F04',
      title: `${nameOf(thread)} was refused ${left.name} ${countOf(evidence.count, 'time')} within 5 s after ${nameOf(left.thread)} had ended without closing it (${left.thread.ended})`,
      evidence: evidence.result(ctx),
      ...noSaving('how long the browser keeps the handle is not in the trace'),
      confidence: 'likely',
      reason:
        'nobody else in this recording has the file open, and the one before ended with its handle open',
      advice:
        'Close the database on pagehide or terminate the worker yourself, and try again with a growing pause when opening.',
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
        (events.result[row]! & 255) !== 14
      )
        return;
      evidence.add(thread, row);
      paths.add(file.path);
      ({ vfs } = file);
    });
    if (evidence.count === 0) return [];
    const handles = ctx.get(accessHandles).held.length;
    return [
      {
        rule: 'F35',
        title: `${vfs} could not open ${[...paths].slice(0, 3).join(', ')}: its pool of ${countOf(handles, 'handle')} has none left`,
        evidence: evidence.result(ctx),
        ...noSaving('the file could not be opened at all'),
        confidence: handles > 0 ? 'likely' : 'possible',
        reason:
          'xOpen answered SQLITE_CANTOPEN on a VFS with a fixed pool of files; journals and temporary files take places in it',
        advice:
          'Reserve more (reserveMinimumCapacity), and set temp_store=memory so that temporary files take none.',
        link: 'https://sqlite.org/wasm/doc/trunk/persistence.md#vfs-opfs-sahpool',
      },
    ];
  },
};

export const tooManyHandles: Rule = {
  id: 'F37',
  title: 'Limit of open handles',
  run(ctx) {
    const { held, refused } = ctx.get(accessHandles);
    if (refused.length === 0 || held.length < MANY_HANDLES) return [];
    const index = byKey(held);
    const evidence = new Evidence();
    let most = 0;
    for (const r of refused) {
      const open = held.filter((h) => h.fromUs <= r.fromUs && h.toUs > r.fromUs).length;
      if (open < MANY_HANDLES || holdersOf(index, r).length) continue;
      most = Math.max(most, open);
      evidence.add(r.thread, r.row);
    }
    if (evidence.count === 0) return [];
    return [
      {
        rule: 'F37',
        title: `createSyncAccessHandle failed ${countOf(evidence.count, 'time')} with ${formatCount(most)} handles open`,
        evidence: evidence.result(ctx),
        ...noSaving('the files could not be opened at all'),
        confidence: 'likely',
        reason:
          'no other handle on the same files is seen; Safari allows 252, Linux 1,024 open files in a process',
        advice: 'Keep fewer files open: fewer databases, a smaller pool.',
        link: SPEC,
      },
    ];
  },
};

export const handleChurn: Rule = {
  id: 'F38',
  title: 'createSyncAccessHandle is expensive',
  run(ctx) {
    const cycles = new Map<string, Held[]>();
    for (const h of ctx.get(accessHandles).held) {
      if (!h.closed) continue;
      const key = `${h.thread.index}\0${h.key}`;
      const list = cycles.get(key);
      if (list) list.push(h);
      else cycles.set(key, [h]);
    }
    return [...cycles.values()].flatMap((list): Finding[] => {
      const evidence = new Evidence();
      for (const h of list) evidence.add(h.thread, h.row);
      const seconds = (list.at(-1)!.toUs - list[0]!.fromUs) / 1e6;
      if (list.length < FEW_CYCLES || list.length < CYCLES_A_SECOND * seconds) return [];
      return [
        {
          rule: 'F38',
          title: `${list[0]!.name} was opened and closed ${countOf(list.length, 'time')} in ${seconds.toFixed(1)} s by ${nameOf(list[0]!.thread)}`,
          evidence: evidence.result(ctx),
          ...new Saving(ctx)
            .avoid(list.length - 1, Op.opfsOpenSyncAccessHandle, 'createSyncAccessHandle')
            .avoid(list.length - 1, Op.opfsClose, 'close')
            .result(),
          confidence: 'certain',
          reason: 'every pair of createSyncAccessHandle and close was recorded',
          advice:
            'Keep the handle until somebody else asks for the file, as cooperative VFSs do, or hold it for longer transactions.',
          link: SPEC,
          tryInLab: 'writers-and-readers',
        },
      ];
    });
  },
};
