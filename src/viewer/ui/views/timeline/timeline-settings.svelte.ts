/**
 * Stores the timeline's settings with those of the views, so that the address has them, too: lanes,
 * search, the selected area and its table, the I/O map, the zoom history.
 */
import { get } from 'svelte/store';
import { rounded, type Range } from '../../charts/viewport.ts';
import type { ViewerModel } from '../../model.ts';
import { DRAWER_HEIGHT, type TimelineState } from './timeline-state.svelte.ts';
import { LAYERS } from '../../layers.ts';
import { viewStateOf } from '../../view-state.ts';

/** Number of zooms that fit into an address. */
const MOST_ZOOMS = 8;
const BY = ['operation', 'statement', 'file'] as const;

/** Microseconds, `1200,5600.5`; null = invalid. */
function rangeOf(text: string | undefined): Range | null {
  const [from, to, ...more] = (text ?? '')
    .split(',')
    .map((part) => (part === '' ? NaN : Number(part)));
  if (
    from === undefined ||
    to === undefined ||
    more.length ||
    !Number.isFinite(from) ||
    !Number.isFinite(to) ||
    to <= from
  )
    return null;
  return { from, to };
}
const rangeText = ({ from, to }: Range): string => `${rounded(from)},${rounded(to)}`;
const listOf = (text: string | undefined): string[] => (text ?? '').split(',').filter(Boolean);
const numbersOf = (text: string | undefined): number[] =>
  listOf(text)
    .map(Number)
    .filter((n) => Number.isSafeInteger(n) && n >= 0);

type Said = Readonly<Record<string, string>>;

/** Apply the address once. Later, the settings themselves are valid. */
function restore(said: Said, setup: TimelineState): void {
  setup.search ||= said['timeline.search'] ?? '';
  setup.area ??= rangeOf(said['timeline.area']);
  if (!setup.trace) setUp(said, setup);
}
/** Another address was set: it determines all settings, including those that it omits. */
export function applyTimelineSettings(said: Said, setup: TimelineState): void {
  setup.forget();
  setup.areaBy = BY[0];
  setUp(said, setup);
  setup.showLanes();
  restore(said, setup);
}
function setUp(said: Said, setup: TimelineState): void {
  for (const name of ['hidden', 'pinned', 'order'] as const) {
    const text = said[`timeline.${name}`];
    if (text !== undefined) setup.wanted[name] = listOf(text);
  }
  for (const thread of numbersOf(said['timeline.closed'])) setup.collapsed.add(thread);
  for (const thread of numbersOf(said['timeline.opened'])) setup.opened.add(thread);
  for (const thread of numbersOf(said['timeline.threadsOff'])) setup.threadsOff.add(thread);
  for (const layer of LAYERS)
    if (listOf(said['timeline.layersOff']).includes(layer)) setup.layersOff.add(layer);
  setup.filter = said['timeline.lanes'] ?? '';
  setup.areaBy = BY.find((by) => by === said['timeline.by']) ?? setup.areaBy;
  setup.skipIdle = said['timeline.idle'] === 'skip';
  setup.mapOpen = said['timeline.map'] !== '0';
  setup.mapObject = said['timeline.file'] ?? '';
  if (/^\d{2,4}$/.test(said['timeline.drawer'] ?? ''))
    setup.drawerHeight = Number(said['timeline.drawer']);
  const zooms = (said['timeline.zooms'] ?? '').split(' ').flatMap((text) => rangeOf(text) ?? []);
  if (!zooms.length || setup.zooms.length) return;
  setup.zooms = zooms.slice(-MOST_ZOOMS);
  const at = Number(said['timeline.zoom'] ?? NaN);
  setup.zoomAt = at >= 0 && at < setup.zooms.length ? Math.floor(at) : setup.zooms.length - 1;
}

/** Call it in a component's script. */
export function useTimelineSettings(model: ViewerModel, setup: TimelineState): void {
  const state = viewStateOf(model);
  restore(get(state.texts), setup);
  const keep = (name: string, text: () => string | null): void => {
    $effect(() => state.set(`timeline.${name}`, text()));
  };
  const joined = (list: Iterable<unknown>): string | null => [...list].join(',') || null;
  keep('search', () => setup.search || null);
  keep('area', () => setup.area && rangeText(setup.area));
  keep('closed', () => joined(setup.collapsed));
  keep('opened', () => joined(setup.opened));
  keep('threadsOff', () => joined(setup.threadsOff));
  keep('layersOff', () => joined(setup.layersOff));
  keep('lanes', () => setup.filter || null);
  keep('by', () => (setup.areaBy === BY[0] ? null : setup.areaBy));
  keep('idle', () => (setup.skipIdle ? 'skip' : null));
  keep('map', () => (setup.mapOpen ? null : '0'));
  keep('file', () => setup.mapObject || null);
  keep('drawer', () => (setup.drawerHeight === DRAWER_HEIGHT ? null : String(setup.drawerHeight)));
  const shown = (): { first: number; zooms: readonly Range[] } => {
    const first = Math.max(0, Math.min(setup.zooms.length - MOST_ZOOMS, setup.zoomAt));
    return { first, zooms: setup.zooms.slice(first, first + MOST_ZOOMS) };
  };
  keep('zooms', () => (setup.zooms.length > 1 ? shown().zooms.map(rangeText).join(' ') : null));
  keep('zoom', () => (setup.zooms.length > 1 ? String(setup.zoomAt - shown().first) : null));
  // the trace's file has the saved lanes: the address only contains differences
  for (const name of ['hidden', 'pinned', 'order'] as const)
    $effect(() => {
      const now = [...setup[name]].join(',');
      if (setup.trace)
        state.set(`timeline.${name}`, now === setup.saved[name].join(',') ? null : now);
    });
}
