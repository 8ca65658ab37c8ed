// Keys of the panel: which are handled, and which are left to the focused element, an input method,
// and the browser.
import { writable } from 'svelte/store';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { BINDINGS, obeyKey, type PageActions } from '../../src/viewer/ui/keys.ts';
import { TIMELINE_BINDINGS } from '../../src/viewer/ui/views/timeline/timeline-keys.ts';
import type { ViewerModel } from '../../src/viewer/ui/model.ts';

class NoElement {}
beforeAll(() => {
  vi.stubGlobal('Element', NoElement);
  vi.stubGlobal('HTMLElement', NoElement);
  vi.stubGlobal('navigator', { platform: 'Linux x86_64' });
});
afterAll(() => void vi.unstubAllGlobals());

const model = {
  toggleRecording: vi.fn(),
  clear: vi.fn(),
  navigation: {
    selected: writable(null),
    evidence: writable(null),
    tab: writable('timeline'),
    view: writable({ from: 0, to: 10 }),
    extent: writable({ from: 0, to: 100 }),
    look: vi.fn(),
    showSelection: vi.fn(),
    showAll: vi.fn(),
    stepEvidence: vi.fn(),
  },
};
const page: PageActions = {
  chooseFile: vi.fn(),
  focusFilter: vi.fn(),
  showView: vi.fn(),
  showsRange: vi.fn(() => false),
};
/** @returns whether it was handled, and whether the browser doesn't get it */
function press(
  key: string,
  more: Partial<KeyboardEvent> = {},
): { obeyed: boolean; prevented: boolean } {
  let prevented = more.defaultPrevented ?? false;
  const event = {
    ...{
      key,
      altKey: false,
      shiftKey: false,
      ctrlKey: false,
      metaKey: false,
      repeat: false,
      isComposing: false,
      timeStamp: 0,
    },
    ...{ composedPath: () => [], preventDefault: () => void (prevented = true) },
    ...more,
    get defaultPrevented() {
      return prevented;
    },
  };
  const obeyed = obeyKey(event as unknown as KeyboardEvent, model as unknown as ViewerModel, page);
  return { obeyed, prevented };
}
const COMMAND = { ctrlKey: true };

describe('a key', () => {
  it('with a digit shows the tab with that number', () => {
    const ids = ['answer', 'timeline', 'statements', 'files', 'events', 'compare'];
    for (const [i, id] of ids.entries()) {
      expect(press(`${i + 1}`)).toEqual({ obeyed: true, prevented: true });
      expect(page.showView).toHaveBeenLastCalledWith(id);
    }
  });
  it('has one meaning outside the timeline', () => {
    const keys = BINDINGS.flatMap(({ keys, command, shift }) =>
      keys.map((key) => `${command} ${shift} ${key}`),
    );
    expect(new Set(keys).size).toBe(keys.length);
  });
  it("of the timeline doesn't pin and step at once", () => {
    const shared = BINDINGS.filter(({ ofRange, command }) => !ofRange && !command).flatMap(
      ({ keys }) => keys,
    );
    const own = TIMELINE_BINDINGS.flatMap(({ keys }) => keys);
    expect(own.filter((key) => key !== 'escape' && shared.includes(key))).toEqual([]);
  });
  it('moves the visible range if that is on screen, and otherwise nothing', () => {
    const keys = ['w', 'a', 's', 'd', '+', '-', 'f', '0'];
    for (const key of keys) expect(press(key), key).toEqual({ obeyed: false, prevented: false });
    expect(model.navigation.look).not.toHaveBeenCalled();
    vi.mocked(page.showsRange).mockReturnValue(true);
    for (const key of keys) expect(press(key).obeyed, key).toBe(true);
    expect(model.navigation.look).toHaveBeenCalledTimes(6);
  });
  it('steps back with Shift', () => {
    expect(press('n').obeyed).toBe(true);
    expect(model.navigation.stepEvidence).toHaveBeenLastCalledWith(1);
    expect(press('N', { shiftKey: true }).obeyed).toBe(true);
    expect(model.navigation.stepEvidence).toHaveBeenLastCalledWith(-1);
    expect(press('p').obeyed).toBe(false);
  });
  it('with Shift is another key', () => {
    expect(press('E', { ...COMMAND, shiftKey: true })).toEqual({ obeyed: false, prevented: false });
    expect(press('L', { ...COMMAND, shiftKey: true }).obeyed).toBe(false);
    expect(model.toggleRecording).not.toHaveBeenCalled();
    expect(model.clear).not.toHaveBeenCalled();
    expect(press('/', { shiftKey: true }).obeyed).toBe(true); // some keyboards have it there
    expect(page.focusFilter).toHaveBeenCalledOnce();
  });
  it("that is held down is one command, and not the browser's", () => {
    expect(press('e', COMMAND)).toEqual({ obeyed: true, prevented: true });
    expect(press('e', { ...COMMAND, repeat: true })).toEqual({ obeyed: true, prevented: true });
    expect(model.toggleRecording).toHaveBeenCalledOnce();
  });
  it("that the focused element or an input method handled isn't the panel's", () => {
    vi.mocked(page.focusFilter).mockClear();
    expect(press('/', { defaultPrevented: true }).obeyed).toBe(false);
    expect(press('/', { isComposing: true }).obeyed).toBe(false);
    expect(page.focusFilter).not.toHaveBeenCalled();
  });
});
