// Settings of the views belong to the shown trace.
import { get, writable } from 'svelte/store';
import { expect, it } from 'vitest';
import { viewStateOf } from '../../src/viewer/ui/view-state.ts';

const fresh = () => ({
  file: writable<{ name: string } | null>(null),
  stats: writable<{ recording: boolean } | null>(null),
});

it('an address applies to the first file', () => {
  const model = fresh();
  const state = viewStateOf(model);
  state.take({ 'events.filter': 'insert' });
  model.file.set({ name: 'a.vfst' });
  expect(get(state.texts)).toEqual({ 'events.filter': 'insert' });
  model.file.set({ name: 'b.vfst' });
  expect(get(state.texts)).toEqual({});
});
it("what was set for a recording doesn't apply to a file that is opened after it", () => {
  const model = fresh();
  const state = viewStateOf(model);
  model.stats.set({ recording: true });
  state.set('events.filter', 'insert');
  model.stats.set({ recording: false });
  expect(get(state.texts)).toEqual({ 'events.filter': 'insert' });
  model.file.set({ name: 'a.vfst' });
  expect(get(state.texts)).toEqual({});
});
