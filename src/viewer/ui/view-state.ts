/**
 * What the user has set in the views: filters, sorting, what is chosen. Text by name (`events.filter`); what stands as it is at first is
 * not kept. It lives as long as the trace is shown, so that another tab and back changes nothing, and stands in the address of a tab. Of a
 * recording that is shown again, the model takes over what it had set (kept-views.ts).
 */
import { get, writable, type Readable } from 'svelte/store';
import { perModel } from './per-model.ts';

/** Anything may stand in an address: names are of this shape, and there are no more nor longer texts than this. */
const NAME = /^[a-z]{2,16}\.[a-z]{2,24}$/i;
const MOST_NAMES = 120;
export const MOST_TEXT = 2000;

/** Names and texts that make sense, of what an address says. */
export function sensible(said: Iterable<[name: string, text: string]>): Record<string, string> {
  const kept = [...said]
    .filter(([name, text]) => NAME.test(name) && text.length <= MOST_TEXT)
    .slice(0, MOST_NAMES);
  return Object.fromEntries(kept);
}

/** What it must know of the model: which trace is shown. */
interface Shown {
  file: Readable<{ name: string } | null>;
  stats: Readable<{ recording: boolean } | null>;
}

export class ViewState {
  private readonly store = writable<Readonly<Record<string, string>>>({});
  readonly texts: Readable<Readonly<Record<string, string>>> = this.store;

  constructor(model: Shown) {
    /** A trace was shown: from a file, or recorded. What an address says is of the first. */
    let seen = false;
    let recording = false;
    // of another trace, what was chosen means nothing
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

  /** @param text null = as it is at first */
  set(name: string, text: string | null): void {
    const { [name]: before, ...rest } = get(this.store);
    if ((before ?? null) === text) return;
    this.store.set(text === null ? rest : { ...rest, [name]: text });
  }
  /** Take over what an address says. */
  take(texts: Readonly<Record<string, string>>): void {
    this.store.update((now) => ({ ...now, ...texts }));
  }
}

export const viewStateOf = perModel((model: Shown) => new ViewState(model));
