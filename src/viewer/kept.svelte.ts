/** A view's settings as its component sees them: read and bound like any state, kept in view-state.ts under a name. */
import { fromStore, get } from 'svelte/store';
import type { ViewerModel } from './model.ts';
import type { Places } from './parts/places.ts';
import { viewStateOf } from './view-state.ts';

export interface Kept<T> {
  value: T;
}
/** How a value is told as text. `parse` answers undefined for what makes no sense. */
interface Words<T> {
  parse(text: string): T | undefined;
  format(value: T): string;
}

/** Call it in a component's script. @param initial what is there where nobody has chosen */
export function keptAs<T>(model: ViewerModel, name: string, initial: T, words: Words<T>): Kept<T> {
  const state = viewStateOf(model);
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

export const keptText = (model: ViewerModel, name: string, initial = ''): Kept<string> => keptAs(model, name, initial, TEXT);
export const keptChoice = (model: ViewerModel, name: string, initial = false): Kept<boolean> => keptAs(model, name, initial, CHOICE);
export const keptKey = (model: ViewerModel, name: string): Kept<string | null> => keptAs<string | null>(model, name, null, KEY);
/** One of several; another word stands for the first. */
export const keptOneOf = <T extends string>(model: ViewerModel, name: string, all: readonly [T, ...T[]]): Kept<T> =>
  keptAs<T>(model, name, all[0], { parse: (text) => all.find((one) => one === text), format: (one) => one });

/** Where the views' parts were left, kept with their settings. */
export function placesOf(model: ViewerModel): Places {
  const state = viewStateOf(model);
  return {
    get(name) {
      const value = Number(get(state.texts)[name] ?? NaN);
      return Number.isFinite(value) ? value : null;
    },
    set: (name, value) => state.set(name, value === null ? null : String(value)),
  };
}
/** A list of short words without commas; [] = as it is at first. */
export const keptList = (model: ViewerModel, name: string): Kept<readonly string[]> =>
  keptAs<readonly string[]>(model, name, [], {
    parse: (text) => text.split(',').filter(Boolean),
    format: (list) => list.join(','),
  });
