/**
 * The viewer's state in the address of a tab:
 * `#tab=events&from=1200&to=5600.5&event=0:17&events.filter=insert`. Reloading the tab, or sending
 * its address with the trace, shows the same place with the same view settings (view-state.ts). A
 * DevTools panel has no visible address, so it stores none.
 */
import type { EventRef } from '../../trace/store.ts';
import { get } from 'svelte/store';
import { rounded } from './charts/viewport.ts';
import type { ViewerModel } from './model.ts';
import { MOST_TEXT, sensible, viewStateOf } from './view-state.ts';

interface HashState {
  tab: string | null;
  /** Microseconds of the trace; null = all of it. */
  range: { from: number; to: number } | null;
  event: EventRef | null;
  /** Settings of the views, by name. */
  views: Readonly<Record<string, string>>;
}

/** An address may contain anything: invalid parts are ignored. */
export function parseHash(hash: string): HashState {
  const said = new URLSearchParams(hash.replace(/^#/, ''));
  const number = (name: string): number => {
    const text = said.get(name);
    return text === null || text === '' ? NaN : Number(text);
  };
  const [from, to] = [number('from'), number('to')];
  const event = /^(\d{1,9}):(\d{1,15})$/.exec(said.get('event') ?? '');
  return {
    tab: said.get('tab'),
    range: Number.isFinite(from) && Number.isFinite(to) && to > from ? { from, to } : null,
    event: event ? { thread: Number(event[1]), seq: Number(event[2]) } : null,
    views: sensible(said),
  };
}

export function formatHash({ tab, range, event, views }: HashState): string {
  const said = new URLSearchParams({
    ...(tab && { tab }),
    ...(range && { from: String(rounded(range.from)), to: String(rounded(range.to)) }),
    ...(event && { event: `${event.thread}:${event.seq}` }),
    ...Object.fromEntries(Object.entries(views).filter(([, text]) => text.length <= MOST_TEXT)),
  });
  return `#${said.toString().replaceAll('%3A', ':')}`;
}

/** Browsers refuse to change an address too often. The last change of a burst is written. */
const SETTLE_MS = 250;

/** The part of a window that holds its address. */
type Place = Pick<Window, 'location' | 'history' | 'addEventListener' | 'removeEventListener'>;

/**
 * Keep the address in sync with the model. The state in the address at load time is applied once a
 * trace is there; an address changed later is applied at once.
 * @param views ids that exist @param taken called with the views' settings in another address
 * @returns stops it
 */
export function keepHash(
  model: ViewerModel,
  views: readonly string[],
  taken: (texts: Readonly<Record<string, string>>) => void,
  place: Place = window,
): () => void {
  const state = viewStateOf(model);
  const show = (said: HashState): void => {
    if (said.tab !== null && views.includes(said.tab)) model.navigation.tab.set(said.tab);
    state.take(said.views);
  };
  const said = parseHash(place.location.hash);
  show(said);
  let wanted = said.range || said.event ? said : null;
  let timer: ReturnType<typeof setTimeout> | undefined;
  /** The address as it was last read or written. */
  let known = place.location.hash;

  const write = (): void => {
    clearTimeout(timer);
    if (wanted) return; // not applied yet: don't overwrite it
    timer = setTimeout(() => {
      if (place.location.hash !== known) return; // a new address, whose event follows
      const selected = get(model.navigation.selected);
      const now: HashState = {
        tab: get(model.navigation.tab),
        range: get(model.navigation.follow) ? null : get(model.navigation.view),
        event: selected && { thread: selected.thread, seq: selected.seq },
        views: get(state.texts),
      };
      const text = formatHash(now);
      if (text !== known) place.history.replaceState(null, '', text);
      known = place.location.hash;
    }, SETTLE_MS);
  };
  const look = ({ range, event }: HashState): void =>
    // after opening the trace has chosen what to show
    queueMicrotask(() => {
      if (range) model.navigation.look(range);
      if (event) void model.navigation.select(event.thread, event.seq);
      write();
    });
  const restore = (): void => {
    if (!wanted || !get(model.file)) return;
    look(wanted);
    wanted = null;
  };
  const obey = (): void => {
    known = place.location.hash;
    const now = parseHash(known);
    const there = (get(model.stats)?.events ?? 0) > 0;
    clearTimeout(timer); // the pending change belongs to the previous one
    wanted = !there && (now.range || now.event) ? now : null;
    for (const name of Object.keys(get(state.texts)))
      if (!(name in now.views)) state.set(name, null);
    taken(now.views);
    show(now);
    if (!now.range) model.navigation.showAll();
    if (!now.event) model.navigation.selected.set(null);
    if (there) look(now);
  };
  place.addEventListener('hashchange', obey);
  const undo = [
    () => place.removeEventListener('hashchange', obey),
    model.navigation.extent.subscribe(restore), // set whenever a trace is there
    model.stats.subscribe((stats) => {
      if (stats?.recording) wanted = null; // it belonged to another trace
    }),
    model.navigation.tab.subscribe(write),
    model.navigation.view.subscribe(write),
    model.navigation.follow.subscribe(write),
    model.navigation.selected.subscribe(write),
    state.texts.subscribe(write),
  ];
  return () => {
    clearTimeout(timer);
    for (const stop of undo) stop();
  };
}
