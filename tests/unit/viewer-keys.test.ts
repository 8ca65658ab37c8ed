// Keys of the panel: which are obeyed, and which are left to what has the focus, to an input method and to the browser.
import { writable } from 'svelte/store';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { BINDINGS, obeyKey, type PageActions } from '../../src/viewer/ui/keys.ts';
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
  selected: writable(null),
  evidence: writable(null),
  tab: writable('timeline'),
};
const page: PageActions = { chooseFile: vi.fn(), focusFilter: vi.fn(), showView: vi.fn() };
/** @returns whether it was obeyed, and whether it is kept from the browser */
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
  it('with a digit shows the tab at that place', () => {
    const ids = ['answer', 'timeline', 'statements', 'files', 'events', 'compare'];
    for (const [i, id] of ids.entries()) {
      expect(press(`${i + 1}`)).toEqual({ obeyed: true, prevented: true });
      expect(page.showView).toHaveBeenLastCalledWith(id);
    }
  });
  it('has one meaning outside the timeline', () => {
    const keys = BINDINGS.flatMap(({ keys, command }) => keys.map((key) => `${command} ${key}`));
    expect(new Set(keys).size).toBe(keys.length);
  });
  it('with Shift is another one', () => {
    expect(press('E', { ...COMMAND, shiftKey: true })).toEqual({ obeyed: false, prevented: false });
    expect(press('L', { ...COMMAND, shiftKey: true }).obeyed).toBe(false);
    expect(model.toggleRecording).not.toHaveBeenCalled();
    expect(model.clear).not.toHaveBeenCalled();
    expect(press('/', { shiftKey: true }).obeyed).toBe(true); // on some keyboards it is there
    expect(page.focusFilter).toHaveBeenCalledOnce();
  });
  it("that is held down is one command, and none of the browser's", () => {
    expect(press('e', COMMAND)).toEqual({ obeyed: true, prevented: true });
    expect(press('e', { ...COMMAND, repeat: true })).toEqual({ obeyed: true, prevented: true });
    expect(model.toggleRecording).toHaveBeenCalledOnce();
  });
  it("that what has the focus took, or an input method, is none of the panel's", () => {
    vi.mocked(page.focusFilter).mockClear();
    expect(press('/', { defaultPrevented: true }).obeyed).toBe(false);
    expect(press('/', { isComposing: true }).obeyed).toBe(false);
    expect(page.focusFilter).not.toHaveBeenCalled();
  });
});
