/**
 * The Tab order of a page, as its user experiences it. For Chromium and Firefox: the part in the
 * page only uses the DOM.
 */
import {
  CAPTURE_LEVEL_LABELS,
  CAPTURED_LAYER_LABELS,
  INSTRUCTIONS_LABEL,
  MESSAGES_LABEL,
  STACKS_LABEL,
} from '../../src/viewer/ui/capture-labels.ts';

/** A stop of the focus. */
export interface Stop {
  /** Its id, or its text. */
  at: string;
  /** The browser draws a ring around it. */
  ring: boolean;
}

/** In the page: the focused element; null = none in the page. */
export function focusedIn(doc: Document): Stop | null {
  const at = doc.activeElement;
  if (at === null || at === doc.body || at === doc.documentElement) return null;
  const { outlineStyle, outlineWidth } = doc.defaultView!.getComputedStyle(at);
  return {
    at: at.id || at.textContent.trim(),
    ring: at.matches(':focus-visible') && outlineStyle !== 'none' && parseFloat(outlineWidth) > 0,
  };
}

/**
 * Press Tab until the focus has left the page, or is back at its first stop: a page that traps the
 * focus among fewer elements would never end.
 * @param press presses Tab, with Shift when `back`
 */
export async function walk(
  press: (back: boolean) => Promise<void>,
  focused: () => Promise<Stop | null>,
  back = false,
): Promise<Stop[]> {
  const seen: Stop[] = [];
  for (let presses = 0; presses < 40; presses++) {
    await press(back);
    const stop = await focused();
    if (stop === null || seen[0]?.at === stop.at) return seen;
    seen.push(stop);
  }
  throw new Error(`the focus does not leave: ${seen.map(({ at }) => at).join(', ')}`);
}

const { sql, vfs, web, query } = CAPTURED_LAYER_LABELS;
/** The requested origins on the access page. */
export const ACCESS_ASKED = '?origin=https://app.example';
/** Stops that the walk must reach in each page, forwards, with role and accessible name. */
export const ORDER: Record<
  'popup' | 'options' | 'welcome' | 'access',
  readonly (readonly [at: string, role: string, name: string])[]
> = {
  popup: [
    ['record-window', 'button', 'Record in its own window'],
    ['open-doctor', 'button', 'Open Doctor'],
    ['Open an example', 'link', 'Open an example'],
    ['Open the Lab', 'link', 'Open the Lab'],
    ['Settings', 'link', 'Settings'],
  ],
  options: [
    ['capture-1', 'radio', CAPTURE_LEVEL_LABELS[1]![1]],
    ['layer-sql', 'checkbox', sql],
    ['layer-vfs', 'checkbox', vfs],
    ['layer-web', 'checkbox', web],
    ['layer-query', 'checkbox', query],
    ['stacks', 'checkbox', STACKS_LABEL],
    ['messages', 'checkbox', MESSAGES_LABEL],
    ['instructions', 'checkbox', INSTRUCTIONS_LABEL],
    ['buffer', 'combobox', 'Buffer of a thread'],
  ],
  welcome: [
    ['Open an example', 'link', 'Open an example'],
    ['Try the Lab', 'link', 'Try the Lab'],
    ['Settings', 'link', 'Settings'],
  ],
  access: [
    ['allow', 'button', 'Allow https://app.example'],
    ['allow-all', 'button', 'Allow all sites'],
  ],
};
