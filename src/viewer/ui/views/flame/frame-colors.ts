/**
 * Colors of frames: a call has its color from the timeline; a statement or function has the color
 * of what took most of its time.
 */
import { PART_WORDS, PARTS } from '../../../../analysis/core/time-parts.ts';
import type { Frame } from '../../../../analysis/statements/flame-graph.ts';
import { PART_COLORS } from '../../charts/time-parts.ts';

/** CSS custom properties of Theme.svelte. */
export const FRAME_COLORS = { ...PART_COLORS, meta: '--activity-meta' };
type Kind = keyof typeof FRAME_COLORS;
export const FRAME_WORDS: Readonly<Record<Kind, { title: string; meaning: string }>> = {
  ...PART_WORDS,
  meta: { title: 'Other calls', meaning: 'calls that neither read, write, sync, nor lock' },
};
/** In the order of a legend. */
export const FRAME_KINDS: readonly Kind[] = [...PARTS, 'meta'];

/** A lock call that mostly waits for another holder has the color of waiting. */
export const frameKind = ({ call, part }: Frame): Kind =>
  call === null || (call === 'lock' && part === 'lockWait') ? part : call;
