// Settings and the address of a tab: what is stored, and how invalid values are handled.
import { get, writable } from 'svelte/store';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { formatHash, keepHash, parseHash } from '../../src/viewer/ui/hash-state.ts';
import { viewStateOf } from '../../src/viewer/ui/view-state.ts';
import type { ViewerModel } from '../../src/viewer/ui/model.ts';
import { SettingsModel, settingsOf } from '../../src/viewer/ui/settings.ts';

describe('settings', () => {
  it('that are invalid become the defaults', () => {
    const defaults = settingsOf({});
    expect(defaults).toMatchObject({
      theme: 'host',
      capture: 1,
      layers: ['sql', 'vfs', 'web', 'query'],
      stacks: false,
      reload: true,
    });
    expect(
      settingsOf({
        theme: 'pink',
        capture: 9,
        layers: ['x'],
        buffer: 'much',
        stacks: 'yes',
        flight: { seconds: 'many', kind: 'all' },
      }),
    ).toEqual(defaults);
    expect(settingsOf({ flight: { kind: 'seconds', seconds: 5, evil: 1 } }).flight).toEqual({
      ...defaults.flight,
      kind: 'seconds',
      seconds: 5,
    });
  });
  it('are read once and written when they change; a failing storage is reported, and the choice stays', async () => {
    const written: Record<string, unknown>[] = [];
    const said: string[] = [];
    const keeper = {
      read: () => Promise.resolve<Record<string, unknown>>({ capture: 0 }),
      write: (values: Record<string, unknown>) => (written.push(values), Promise.resolve()),
    };
    const model = new SettingsModel(keeper, (text) => said.push(text));
    await model.read();
    expect(get(model.values).capture).toBe(0);
    await model.change({ capture: 2 });
    expect(written).toEqual([{ capture: 2 }]);
    keeper.write = () => Promise.reject(new Error('disk full'));
    await model.change({ theme: 'dark' });
    expect(get(model.values)).toMatchObject({ capture: 2, theme: 'dark' });
    expect(said).toEqual([expect.stringContaining('disk full')]);
    await new SettingsModel({ ...keeper, read: () => Promise.reject(new Error('gone')) }, (text) =>
      said.push(text),
    ).read();
    expect(said[1]).toContain('gone');
  });
});

describe('the address of a tab', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());
  it.each([
    ['', { tab: null, range: null, event: null, views: {} }],
    [
      '#tab=files&from=1&to=2.5&event=0:17',
      { tab: 'files', range: { from: 1, to: 2.5 }, event: { thread: 0, seq: 17 }, views: {} },
    ],
    ['#from=5&to=2&event=x:1', { tab: null, range: null, event: null, views: {} }],
    ['#from=&to=Infinity&event=-1:3', { tab: null, range: null, event: null, views: {} }],
    [
      `#events.filter=a%26b&events.layers=sql,vfs&__proto__.x=1&nodot=2&events.op=${'x'.repeat(2001)}`,
      {
        tab: null,
        range: null,
        event: null,
        views: { 'events.filter': 'a&b', 'events.layers': 'sql,vfs' },
      },
    ],
  ])('%s', (hash, state) => expect(parseHash(hash)).toEqual(state));
  it('writes what it reads', () => {
    const state = {
      tab: 'timeline',
      range: { from: 1.5, to: 2000 },
      event: { thread: 2, seq: 31 },
      views: { 'events.filter': 'x = 1 & y' },
    };
    expect(parseHash(formatHash(state))).toEqual(state);
  });
  const placeOf = (hash: string) => {
    const heard = new EventTarget();
    const listen = {
      addEventListener: heard.addEventListener.bind(heard),
      removeEventListener: heard.removeEventListener.bind(heard),
    };
    return {
      location: { hash },
      history: { replaceState: vi.fn() },
      ...listen,
      changed: () => heard.dispatchEvent(new Event('hashchange')),
    };
  };
  const newModel = () => ({
    navigation: {
      view: writable({ from: 0, to: 1 }),
      extent: writable({ from: 0, to: 0 }),
      tab: writable('timeline'),
      follow: writable(true),
      selected: writable<unknown>(null),
      look: vi.fn(),
      select: vi.fn(),
      showAll: vi.fn(),
    },
    stats: writable<{ recording: boolean; events: number } | null>(null),
    file: writable<{ name: string } | null>(null),
  });
  const kept = (
    model: ReturnType<typeof newModel>,
    place: ReturnType<typeof placeOf>,
    taken = (): void => {},
  ) =>
    keepHash(
      model as unknown as ViewerModel,
      ['files', 'timeline'],
      taken,
      place as unknown as Window,
    );
  it('is restored when the trace is loaded, and updated after that', async () => {
    const place = placeOf('#tab=files&from=10&to=20&event=0:3&files.sort=reads');
    const model = newModel();
    const end = kept(model, place);
    expect(get(model.navigation.tab)).toBe('files');
    vi.runAllTimers();
    expect(place.history.replaceState).not.toHaveBeenCalled();
    model.file.set({ name: 'a.vfst' });
    model.navigation.extent.set({ from: 0, to: 100 }); // and the view already shows all of it
    await Promise.resolve();
    expect(model.navigation.look).toHaveBeenCalledWith({ from: 10, to: 20 });
    expect(model.navigation.select).toHaveBeenCalledWith(0, 3);
    model.navigation.follow.set(false);
    model.navigation.view.set({ from: 30, to: 40 });
    vi.runAllTimers();
    expect(place.history.replaceState).toHaveBeenLastCalledWith(
      null,
      '',
      '#tab=files&from=30&to=40&files.sort=reads',
    );
    viewStateOf(model).set('events.filter', 'insert');
    viewStateOf(model).set('files.sort', null);
    vi.runAllTimers();
    expect(place.history.replaceState).toHaveBeenLastCalledWith(
      null,
      '',
      '#tab=files&from=30&to=40&events.filter=insert',
    );
    model.file.set({ name: 'b.vfst' }); // settings of one trace don't apply to the next
    expect(get(viewStateOf(model).texts)).toEqual({});
    end();
  });
  it('is applied when the user enters another one, with defaults for what it omits', async () => {
    const place = placeOf('#tab=timeline&files.sort=reads&rows.comparestatements=66');
    const model = newModel();
    const taken = vi.fn();
    const end = kept(model, place, taken);
    expect(get(viewStateOf(model).texts)).toEqual({
      'files.sort': 'reads',
      'rows.comparestatements': '66',
    });
    model.stats.set({ recording: false, events: 7 });
    model.navigation.selected.set({ thread: 0, seq: 1 });
    place.location.hash = '#tab=files&from=10&to=20&event=0:3&files.picked=a';
    place.changed();
    await Promise.resolve();
    expect(get(model.navigation.tab)).toBe('files');
    expect(get(viewStateOf(model).texts)).toEqual({ 'files.picked': 'a' });
    expect(taken).toHaveBeenCalledWith({ 'files.picked': 'a' });
    expect([model.navigation.look, model.navigation.select].map(({ mock }) => mock.calls)).toEqual([
      [[{ from: 10, to: 20 }]],
      [[0, 3]],
    ]);
    place.location.hash = '#tab=timeline';
    place.changed();
    expect(model.navigation.showAll).toHaveBeenCalledOnce();
    expect(get(model.navigation.selected)).toBeNull();
    end();
    place.location.hash = '#tab=files';
    place.changed();
    expect(get(model.navigation.tab)).toBe('timeline');
  });
  it('is not overwritten before its event arrives', () => {
    const place = placeOf('#tab=timeline');
    const model = newModel();
    const end = kept(model, place);
    model.navigation.selected.set({ thread: 0, seq: 1 }); // to be written
    place.location.hash = '#tab=files';
    vi.runAllTimers();
    expect(place.history.replaceState).not.toHaveBeenCalled();
    place.changed();
    expect(get(model.navigation.tab)).toBe('files');
    end();
  });
  it('waits if no trace is loaded, and then shows that place', async () => {
    const place = placeOf('');
    const model = newModel();
    const end = kept(model, place);
    place.location.hash = '#from=10&to=20';
    place.changed();
    await Promise.resolve();
    vi.runAllTimers();
    expect(model.navigation.look).not.toHaveBeenCalled();
    expect(place.history.replaceState).not.toHaveBeenCalled();
    model.file.set({ name: 'a.vfst' });
    model.navigation.extent.set({ from: 0, to: 100 });
    await Promise.resolve();
    expect(model.navigation.look).toHaveBeenCalledWith({ from: 10, to: 20 });
    end();
  });
});
