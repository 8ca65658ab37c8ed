/** The timeline's search and its chosen area are kept with the views' settings, so that they stand in the address, too. */
import { get } from 'svelte/store';
import type { Range } from '../../charts/viewport.ts';
import type { ViewerModel } from '../../model.ts';
import type { TimelineState } from '../../timeline-state.svelte.ts';
import { viewStateOf } from '../../view-state.ts';

/** Microseconds, `1200,5600.5`; null = makes no sense. */
function rangeOf(text: string | undefined): Range | null {
  const [from, to, ...more] = (text ?? '').split(',').map((part) => (part === '' ? NaN : Number(part)));
  if (from === undefined || to === undefined || more.length || !Number.isFinite(from) || !Number.isFinite(to) || to <= from) return null;
  return { from, to };
}
const rounded = (us: number): number => Math.round(us * 1e3) / 1e3;

/** Call it in a component's script. */
export function keepTimeline(model: ViewerModel, setup: TimelineState): void {
  const state = viewStateOf(model);
  const said = get(state.texts);
  setup.search ||= said['timeline.search'] ?? '';
  setup.area ??= rangeOf(said['timeline.area']);
  $effect(() => state.set('timeline.search', setup.search || null));
  $effect(() => state.set('timeline.area', setup.area ? `${rounded(setup.area.from)},${rounded(setup.area.to)}` : null));
}
