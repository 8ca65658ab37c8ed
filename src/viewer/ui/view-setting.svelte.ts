/**
 * A view's setting for its component: read and bound like any state, stored in view-state.ts under
 * a name.
 */
import { fromStore } from 'svelte/store';
import { viewStateOf } from './view-state.ts';
import { viewerModel } from './viewer-context.ts';

export interface ViewSetting<T> {
  value: T;
}
/** A table's sorting: a column's key; '' = the order in which rows come. */
export interface SortOrder {
  key: string;
  descending: boolean;
}

/** How a value is written as text. `parse` returns undefined for text that isn't a value. */
interface TextForm<T> {
  parse(text: string): T | undefined;
  format(value: T): string;
}

/** Call it in a component's script. @param initial the default */
export function viewSetting<T>(name: string, initial: T, form: TextForm<T>): ViewSetting<T> {
  const state = viewStateOf(viewerModel());
  const texts = fromStore(state.texts);
  const text = $derived(texts.current[name]);
  const value = $derived(text === undefined ? initial : (form.parse(text) ?? initial));
  return {
    get value() {
      return value;
    },
    set value(next) {
      const text = form.format(next);
      state.set(name, text === form.format(initial) ? null : text);
    },
  };
}

const TEXT: TextForm<string> = { parse: (text) => text, format: (text) => text };
const CHOICE: TextForm<boolean> = {
  parse: (text) => (text === '1' ? true : text === '0' ? false : undefined),
  format: (on) => (on ? '1' : '0'),
};
/** '' = nothing is selected. */
const KEY: TextForm<string | null> = { parse: (text) => text || null, format: (key) => key ?? '' };

export const textSetting = (name: string, initial = ''): ViewSetting<string> =>
  viewSetting(name, initial, TEXT);
export const switchSetting = (name: string, initial = false): ViewSetting<boolean> =>
  viewSetting(name, initial, CHOICE);
export const keySetting = (name: string): ViewSetting<string | null> =>
  viewSetting<string | null>(name, null, KEY);
/** One of several values. Invalid text becomes the first. */
export const choiceSetting = <T extends string>(
  name: string,
  all: readonly [T, ...T[]],
): ViewSetting<T> =>
  viewSetting<T>(name, all[0], {
    parse: (text) => all.find((one) => one === text),
    format: (one) => one,
  });

/** A list of short words without commas; [] = the default. */
export const listSetting = (name: string): ViewSetting<readonly string[]> =>
  viewSetting<readonly string[]>(name, [], {
    parse: (text) => text.split(',').filter(Boolean),
    format: (list) => list.join(','),
  });

/** How a table is sorted. @param name of a view, or `view.table` if it has several */
export function sortSetting(name: string, key = '', descending = false): SortOrder {
  const two = name.includes('.') ? ['Sort', 'Down'] : ['.sort', '.descending'];
  const by = textSetting(name + two[0], key);
  const down = switchSetting(name + two[1], descending);
  return {
    get key() {
      return by.value;
    },
    set key(next) {
      by.value = next;
    },
    get descending() {
      return down.value;
    },
    set descending(next) {
      down.value = next;
    },
  };
}
