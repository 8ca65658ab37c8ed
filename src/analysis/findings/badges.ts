/**
 * Badges: what makes this recording's numbers misleading. Each explains how to read them; none
 * claims that the app does something wrong. A page can't know whether its window is private, or how
 * old its origin is, so such a badge only reports what is known.
 */
import { Op } from '../../event/event.ts';
import { OPS } from '../../event/operations.ts';
import { objectName } from '../../trace/describe.ts';
import { OWN_RECORDING } from '../../trace/store.ts';
import { callCheck } from '../below/call-check.ts';
import { fact } from '../core/graph.ts';
import { recordingCost, type RecordingCost } from '../time/recording-cost.ts';
import { costText } from './cost-said.ts';
import { conditions, slowedText } from '../core/conditions.ts';
import { losses, lossesText } from '../core/losses.ts';
import { unrecordedText, unrecordedWorkers } from '../core/unrecorded-workers.ts';
import { tailsText, unknownTails } from '../core/unknown-tails.ts';
import { findingContext, type FindingContext } from '../rules/context.ts';
import type { Badge } from '../rules/types.ts';
import { hiddenTimes } from '../locks/rules.ts';
import { formatDuration, formatShare } from '../../text/numbers.ts';
import { Rc } from '../../sqlite/constants.ts';

const TRACER_SHARE = 0.05;

/** In the order in which they should be read. */
export const badges = fact(
  'badges',
  'badges',
  {
    ...{ findingContext, recordingCost, losses, unrecordedWorkers, unknownTails, conditions },
    callCheck,
  },
  (
    _,
    {
      findingContext: ctx,
      recordingCost: cost,
      losses: missing,
      unrecordedWorkers: workers,
      unknownTails: tails,
      conditions: made,
      callCheck: check,
    },
  ): Badge[] => [
    ...(workers.length
      ? [
          {
            badge: 'Workers not recorded',
            say: unrecordedText(workers),
            ...(workers[0]!.kind !== 'data' && { hides: true as const }),
          },
        ]
      : []),
    ...(missing.length
      ? [{ badge: 'Events dropped', say: lossesText(missing), hides: true as const }]
      : []),
    ...(made.slowed ? [{ badge: 'DevTools open', say: slowedText(made) }] : []),
    ...(tails.length
      ? [{ badge: 'Last calls unknown', say: tailsText(tails), hides: true as const }]
      : []),
    ...(check?.verdict === 'different'
      ? [
          {
            badge: 'Counts differ',
            say: "The browser doesn't count the same storage calls as vfscope. The report's Below storage has both counts.",
          },
        ]
      : []),
    ...[() => recorderOn(cost), coarseClock, hiddenTab, cleanDatabase, firstRun, oldOrigin].flatMap(
      (badge) => badge(ctx) ?? [],
    ),
  ],
);

function recorderOn(cost: RecordingCost): Badge | null {
  const { share } = cost;
  if (share === null || share < TRACER_SHARE) return null;
  return {
    badge: 'Recorder on',
    say: `${costText(cost)} Times are inflated, counts are not.`,
  };
}

/** Operations that take time of the app's threads. */
const IS_CALL = Uint8Array.from(OPS, (info) => Number(info !== undefined && info.layer !== 'host'));

function coarseClock(ctx: FindingContext): Badge | null {
  const step = ctx.clockStepUs;
  if (step === null || step < 1) return null;
  let [below, all] = [0, 0];
  for (const { events } of ctx.store.threads) {
    const { op, endSeq, dur, count } = events;
    for (let row = 0; row < count; row++) {
      if (IS_CALL[op[row]!] === 0 || endSeq[row] === 0) continue;
      all++;
      if (dur[row]! < step) below++;
    }
  }
  if (all === 0 || below < all / 2) return null;
  return {
    badge: 'Coarse clock',
    say: `The clock steps by ${formatDuration(step)}, and ${formatShare(below / all)} of the calls are shorter. Single times mean little. Sums are accurate.`,
  };
}

/**
 * In Firefox, a page is hidden for a moment when its tab is created. Timers are slowed down after a
 * second at the earliest.
 */
const HIDDEN_US = 1_000_000;

function hiddenTab(ctx: FindingContext): Badge | null {
  const times = ctx.store.threads
    .filter(({ info }) => info.kind === 'page')
    .map((page) => hiddenTimes(ctx, page).reduce((sum, h) => sum + h.toUs - h.fromUs, 0));
  const us = Math.max(0, ...times);
  if (us < HIDDEN_US) return null;
  return {
    badge: 'Hidden tab',
    say: `${times.filter((t) => t >= HIDDEN_US).length > 1 ? 'Tabs were hidden, the longest' : 'A tab was hidden'} for ${formatDuration(us)}: browsers slow down timers and workers of hidden tabs.`,
  };
}

/**
 * The first read at the file's start found nothing, or the storage was deleted during this
 * recording.
 */
function cleanDatabase(ctx: FindingContext): Badge | null {
  const paths = new Set<string>();
  for (const thread of ctx.store.threads) {
    const { events } = thread;
    const waited = new Set(
      [...thread.definitions].flatMap(([id, d]) =>
        d.kind === 'file' && d.fileKind === 'main-db' ? [id] : [],
      ),
    );
    const rows = ctx.rows(thread, Op.xRead);
    let last = -1;
    for (let i = 0; i < rows.length && waited.size > 0; i++) {
      const row = rows[i]!;
      const object = events.object[row]!;
      if (object === last) continue;
      last = object;
      if (!waited.delete(object)) continue;
      const file = ctx.file(thread, object);
      if (file && events.offset[row]! < 100 && events.result[row] === Rc.shortRead)
        paths.add(file.path);
    }
    for (const row of ctx.rows(thread, Op.idbDeleteDatabase))
      paths.add(objectName(thread, events.object[row]!));
  }
  if (paths.size === 0) return null;
  return {
    badge: 'Clean database',
    say: `${[...paths].join(', ')} was empty or deleted in this recording. Overwriting old data takes longer (read-modify-write).`,
  };
}

/**
 * An engine with hooked functions was loaded after the recording began, except if an app records
 * itself.
 */
function firstRun(ctx: FindingContext): Badge | null {
  const seen = ctx.store.threads.filter((t) => t.forgotten === 0 && t.info.id !== OWN_RECORDING);
  const engines = seen.flatMap((t) => t.engines.filter((e) => e.layers.vfs).map((e) => e.name));
  if (engines.length === 0) return null;
  return {
    badge: 'Cold start included',
    say: `${[...new Set(engines)].join(', ')} was loaded and compiled in this recording. Repeat it, and compare medians and minimums.`,
  };
}

function oldOrigin(ctx: FindingContext): Badge | null {
  const chromium = ctx.store.threads.some((t) =>
    /Chrom(e|ium)\//.test(t.environment?.userAgent ?? ''),
  );
  if (!chromium || ctx.calls(Op.idbTransaction, Op.idbOpen) === 0) return null;
  return {
    badge: 'IndexedDB backend unknown',
    say: "Chromium stores IndexedDB in LevelDB or in SQLite, depending on when the database was created. vfscope can't tell which. Don't compare origins of different age, or private windows.",
  };
}
