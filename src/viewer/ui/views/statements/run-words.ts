/** Why a run took longer than the median run, in sentences. */
import type { RunCause, SlowRun } from '../../../../analysis/statements/slow-runs.ts';
import type { ExecutionCount } from '../../../../analysis/statements/statement-runs.ts';
import { countOf, formatDuration } from '../../../../text/numbers.ts';

const NOUNS: Partial<Record<ExecutionCount, string>> = {
  steps: 'step',
  reads: 'read',
  writes: 'write',
  syncs: 'sync',
  locks: 'lock call',
};

/** What happened in this run only. */
export function causeText(cause: RunCause): string {
  switch (cause.kind) {
    case 'first':
      return `First run on its thread: ${
        cause.reads
          ? countOf(cause.reads, 'more read')
          : `${formatDuration(cause.ownUs)} more in SQLite`
      }`;
    case 'checkpoint':
      return `A checkpoint ran inside: ${formatDuration(cause.us)}, ${countOf(cause.pages, 'page')} written`;
    case 'spill':
      return `The page cache was full: ${countOf(cause.pages, 'page')} written early`;
    case 'lock':
      return `Waited for a lock: ${formatDuration(cause.us)}`;
    case 'sync':
      return `It waited for ${countOf(cause.syncs, 'sync')}; the median run for none`;
    case 'tracer':
      return `vfscope's own work: ${formatDuration(cause.us)}`;
    case 'call':
      return `One long call: ${cause.name}, ${formatDuration(cause.us)}`;
  }
}

/** `18 ms longer than the median: 15 ms in xSync wal, 3 more reads` */
export function differenceText({ longerUs, more, counts }: SlowRun): string {
  const parts = [
    ...more.map(({ name, us }) => `${formatDuration(us)} in ${name}`),
    ...counts.map(({ count, more: by }) => countOf(by, `more ${NOUNS[count]!}`)),
  ];
  return `${formatDuration(longerUs)} longer than the median${parts.length ? `: ${parts.join(', ')}` : ''}`;
}
