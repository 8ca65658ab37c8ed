/** How the recording was made, which affects whether times of two recordings can be compared. */
import { slowsUnderDevtools, type Slowdown } from '../../event/conditions.ts';
import { formatDuration, formatNumber } from '../../text/numbers.ts';
import type { TraceStore } from '../../trace/store.ts';
import { fact } from './graph.ts';

export interface Conditions extends Slowdown {
  /** DevTools were open on the page; null = not known. */
  devtools: boolean | null;
  /** The browser slows a page down while they are open. */
  slowed: boolean;
}

const UNKNOWN = { devtools: null, wasmFactor: null, awaitExtraNs: null } as const;

export const conditions = fact('conditions', 'how it was recorded', {}, conditionsOf);

/** As known so far. */
export function conditionsOf({ threads }: TraceStore): Conditions {
  const said = threads.flatMap((thread) => thread.conditions ?? []).at(-1) ?? UNKNOWN;
  const { devtools, wasmFactor, awaitExtraNs } = said;
  const chromium = threads.some((t) => slowsUnderDevtools(t.environment?.userAgent ?? ''));
  return { devtools, wasmFactor, awaitExtraNs, slowed: devtools === true && chromium };
}

/** What open DevTools did to the times. @param conditions those of a slowed page */
export function slowedText({ wasmFactor, awaitExtraNs }: Conditions): string {
  const how =
    wasmFactor === null || awaitExtraNs === null
      ? 'WebAssembly runs at about half its speed then, and awaits take several times as long'
      : `when the recording stopped, WebAssembly took ${formatNumber(wasmFactor)} times as long in the page as outside of it, and each await ${formatDuration(awaitExtraNs / 1000)} more`;
  return `DevTools were open, which slows a page down in Chromium: ${how}. Counts hold. CPU times, shares, and savings are those of the page with DevTools open. For the times that your users see, record in vfscope's own window: press the vfscope icon beside the address bar.`;
}

/** Why times of the two recordings can't be compared; null = they can. */
export function unlikeText(a: Conditions, b: Conditions): string | null {
  if (a.slowed === b.slowed) return null;
  const [open, closed, other] = a.slowed ? ['A', 'B', b] : ['B', 'A', a];
  const why =
    other.devtools === null
      ? `DevTools slowed ${open} down, and ${closed} doesn't show whether they were open`
      : `DevTools slowed ${open} down and not ${closed}`;
  return `${why}: times aren't compared. Record both the same way.`;
}
