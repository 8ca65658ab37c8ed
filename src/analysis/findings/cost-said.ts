/** What recording cost the app, in a sentence. */
import { formatDuration, formatShare } from '../../text/numbers.ts';
import { say, saidText, type Said, type SaidNumber } from '../numbers/said.ts';
import type { RecordingCost } from '../time/recording-cost.ts';

/** From this share on, times say little about the app without vfscope. */
const TOO_MUCH = 0.9;

/** How its estimate is made. */
export const COST_HOW =
  "All that vfscope does on your app's threads, from a model fitted to measured runs. The vfscope part of the bar is only what could be timed inside SQL. The rest is in the other parts, or outside SQL. With few processor cores, the panel costs more.";

/** One sentence; nothing if not known. */
export function costSaid({ us, share, timedUs }: RecordingCost): Said {
  if (us === null) return [];
  // no list has an estimate
  const timed = timedUs > 0 ? { part: 'tracer' as const } : null;
  const time: SaidNumber = {
    text: formatDuration(us),
    definition: timed
      ? 'An estimate. The list shows what vfscope could time inside SQL, which is less.'
      : 'An estimate. vfscope could time none of it inside SQL.',
    list: timed && 'statements',
    about: timed,
  };
  if (share !== null && share >= TOO_MUCH)
    return say`Recording cost your app about ${time}, as much as SQLite itself: these times are too short to judge.`;
  const ofSql: SaidNumber = {
    text: formatShare(share),
    definition: 'This estimate / time in SQL. The list has all time in SQL.',
    list: 'statements',
    about: { part: null },
  };
  return say`Recording cost your app about ${time}${share === null ? '' : say`, ${ofSql} of its time in SQL`}.`;
}

export const costText = (cost: RecordingCost): string => saidText(costSaid(cost));
