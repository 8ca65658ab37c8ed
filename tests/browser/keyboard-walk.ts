/** Where Tab leads in a page, as its user meets it. For Chromium and Firefox: what runs in the page uses the DOM alone. */
import {
  CAPTURE_LEVEL_LABELS,
  CAPTURED_LAYER_LABELS,
  INSTRUCTIONS_LABEL,
  MESSAGES_LABEL,
  STACKS_LABEL,
} from '../../src/viewer/ui/capture-labels.ts';

/** A place where the focus rests. */
export interface Stop {
  /** Its id, or its text. */
  at: string;
  /** The browser draws a ring around it. */
  ring: boolean;
}

/** In the page: where the focus is; null = nowhere in it. */
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
 * Press Tab until the focus has left the page, or is where it was first: a page that keeps it among fewer elements would go on for ever.
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
/** What the page that asks for access is asked for. */
export const ACCESS_ASKED = '?origin=https://app.example';
/** What the walk must meet in each page, forwards, with role and accessible name. */
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
