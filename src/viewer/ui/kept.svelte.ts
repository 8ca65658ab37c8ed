/** A view's settings as its component sees them: read and bound like any state, kept in view-state.ts under a name. */
import { fromStore, get } from 'svelte/store';
import type { Places } from './parts/places.ts';
import { viewStateOf } from './view-state.ts';
import { viewerModel } from './viewer-context.ts';

export interface Kept<T> {
  value: T;
}
/** How a value is told as text. `parse` answers undefined for what makes no sense. */
interface Words<T> {
  parse(text: string): T | undefined;
  format(value: T): string;
}

/** Call it in a component's script. @param initial what is there where nobody has chosen */
export function keptAs<T>(name: string, initial: T, words: Words<T>): Kept<T> {
  const state = viewStateOf(viewerModel());
  const texts = fromStore(state.texts);
  const text = $derived(texts.current[name]);
  const value = $derived(text === undefined ? initial : (words.parse(text) ?? initial));
  return {
    get value() {
      return value;
    },
    set value(next) {
      const said = words.format(next);
      state.set(name, said === words.format(initial) ? null : said);
    },
  };
}

const TEXT: Words<string> = { parse: (text) => text, format: (text) => text };
const CHOICE: Words<boolean> = {
  parse: (text) => (text === '1' ? true : text === '0' ? false : undefined),
  format: (on) => (on ? '1' : '0'),
};
/** '' = nothing is chosen. */
const KEY: Words<string | null> = { parse: (text) => text || null, format: (key) => key ?? '' };

export const keptText = (name: string, initial = ''): Kept<string> => keptAs(name, initial, TEXT);
export const keptChoice = (name: string, initial = false): Kept<boolean> =>
  keptAs(name, initial, CHOICE);
export const keptKey = (name: string): Kept<string | null> =>
  keptAs<string | null>(name, null, KEY);
/** One of several; another word stands for the first. */
export const keptOneOf = <T extends string>(name: string, all: readonly [T, ...T[]]): Kept<T> =>
  keptAs<T>(name, all[0], {
    parse: (text) => all.find((one) => one === text),
    format: (one) => one,
  });

/** Where the views' parts were left, kept with their settings. Call it in a component's script. */
export function keptPlaces(): Places {
  const state = viewStateOf(viewerModel());
  return {
    get(name) {
      const value = Number(get(state.texts)[name] ?? NaN);
      return Number.isFinite(value) ? value : null;
    },
    set: (name, value) => state.set(name, value === null ? null : String(value)),
  };
}
/** A list of short words without commas; [] = as it is at first. */
export const keptList = (name: string): Kept<readonly string[]> =>
  keptAs<readonly string[]>(name, [], {
    parse: (text) => text.split(',').filter(Boolean),
    format: (list) => list.join(','),
  });
