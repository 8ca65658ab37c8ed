/** What the browser reports on storage, as a block of the report. */
import { countOf, formatCount, formatDuration } from '../../text/numbers.ts';
import type { BelowStorageSums } from '../below/browser-work.ts';
import type { CallCheck } from '../below/call-check.ts';
import type { Block } from './blocks.ts';

/** The result of the check, one line for each sentence. */
export function verdictLines({ verdict, reported, differences, after, why }: CallCheck): string[] {
  const text = {
    equal: `The browser counts the same: ${countOf(reported, 'storage call')}.`,
    different: "The browser doesn't count the same storage calls as vfscope:",
    'not compared': `vfscope's counts weren't compared with the browser's. ${why}`,
  };
  return [
    text[verdict],
    ...differences.map(
      (one) =>
        `${one.call}: vfscope recorded ${formatCount(one.recorded)}, the browser ${formatCount(one.reported)}. ${one.why}`,
    ),
    ...(after ? [`Not compared: ${countOf(after, 'call')} while the browser's trace ended.`] : []),
  ];
}

/** null if the browser wasn't asked. */
export function belowBlock(known: BelowStorageSums | null): Block | null {
  if (!known) return null;
  const { check, sums } = known;
  return {
    heading: 'Below storage',
    ...(sums.length && {
      table: {
        head: ['Work', 'Calls', 'Queued', 'Browser works', 'Until answered'],
        rows: sums.map(({ work, calls, queuedUs, workUs, answerUs }) => [
          work,
          formatCount(calls),
          formatDuration(queuedUs),
          formatDuration(workUs),
          formatDuration(answerUs),
        ]),
        texts: [0],
      },
    }),
    lines: [...verdictLines(check), 'Concurrent requests each count in these times.'],
  };
}
