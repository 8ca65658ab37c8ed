/** The way to the flame graph of one transaction, and of one statement. */
import type { Range } from '../../charts/viewport.ts';
import type { ViewerModel } from '../../model.ts';
import { viewStateOf } from '../../view-state.ts';

/** Place of a thread in an address; -1 = all. */
export const flameThread = {
  parse: (said: string): number | undefined => (/^\d{1,6}$/.test(said) ? Number(said) : undefined),
  format: String,
};

/** What a thread did in a time range. */
export function showFlames(model: ViewerModel, thread: number, range: Range): void {
  const state = viewStateOf(model);
  state.set('flame.thread', flameThread.format(thread));
  state.set('flame.zoom', null);
  state.set('flame.top', null);
  state.set('filter.range', '1');
  model.navigation.look(range);
  model.navigation.tab.set('flame');
}

/** One statement of those that are shown. @param text its fingerprint; null = not known */
export function showStatementFlames(model: ViewerModel, text: string | null): void {
  const state = viewStateOf(model);
  state.set('flame.top', null);
  state.set('flame.zoom', JSON.stringify([text]));
  model.navigation.tab.set('flame');
}
