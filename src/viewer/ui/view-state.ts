/**
 * The user's settings in the views: filters, sorting, selections. Each is a text with a name
 * (`events.filter`); defaults aren't stored. They live as long as the trace is shown, so that
 * switching tabs loses nothing, and are in the address of a tab. For a recording that is shown
 * again, the model restores them (kept-views.ts).
 */
import { get, writable, type Readable } from 'svelte/store';
import { perModel } from './per-model.ts';

/**
 * An address may contain anything: names have this format, and the number and length of texts is
 * limited.
 */
const NAME = /^[a-z]{2,16}\.[a-z]{2,24}$/i;
const MOST_NAMES = 120;
export const MOST_TEXT = 2000;

/** The valid names and texts of an address. */
export function sensible(said: Iterable<[name: string, text: string]>): Record<string, string> {
  const kept = [...said]
    .filter(([name, text]) => NAME.test(name) && text.length <= MOST_TEXT)
    .slice(0, MOST_NAMES);
  return Object.fromEntries(kept);
}

/** What it needs from the model: which trace is shown. */
interface Shown {
  file: Readable<{ name: string } | null>;
  stats: Readable<{ recording: boolean } | null>;
}

export class ViewState {
  private readonly store = writable<Readonly<Record<string, string>>>({});
  readonly texts: Readable<Readonly<Record<string, string>>> = this.store;

  constructor(model: Shown) {
    /** A trace was shown, from a file or a recording. The address applies to the first one. */
    let seen = false;
    let recording = false;
    // selections are meaningless for another trace
    model.file.subscribe((now) => {
      if (now === null) return;
      if (seen) this.store.set({});
      seen = true;
    });
    model.stats.subscribe((now) => {
      if (now?.recording && !recording) this.store.set({});
      recording = now?.recording ?? false;
      seen ||= recording;
    });
  }

  /** @param text null = the default */
  set(name: string, text: string | null): void {
    const { [name]: before, ...rest } = get(this.store);
    if ((before ?? null) === text) return;
    this.store.set(text === null ? rest : { ...rest, [name]: text });
  }
  /** Apply the settings in an address. */
  take(texts: Readonly<Record<string, string>>): void {
    this.store.update((now) => ({ ...now, ...texts }));
  }
}

export const viewStateOf = perModel((model: Shown) => new ViewState(model));
