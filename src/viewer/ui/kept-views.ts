/**
 * How each recording was left: what was set in the views, the time range, what was selected. It lasts as long as the viewer, so that
 * switching between recordings and back finds everything again.
 */
import { get } from 'svelte/store';
import { HISTORY } from '../../protocol/session.ts';
import type { Memento, Navigation } from './navigation.ts';
import type { ViewState } from './view-state.ts';

interface Views {
  place: Memento;
  texts: Readonly<Record<string, string>>;
}

/** A flight recorder's parts are recordings of their own. */
const MOST = 3 * HISTORY.recordings;

export class KeptViews {
  /** Id of the recording that is shown (Spool); null = none, or a file. */
  private shown: string | null = null;
  private readonly kept = new Map<string, Views>();

  constructor(
    private readonly navigation: Navigation,
    private readonly state: ViewState,
  ) {}

  /** Another trace comes. @returns what is left, for `show` */
  leave(): { shown: string | null; views: Views } {
    const { shown, kept } = this;
    const views = { place: this.navigation.place(), texts: get(this.state.texts) };
    this.shown = null;
    if (shown === null) return { shown, views };
    kept.delete(shown);
    kept.set(shown, views);
    if (kept.size > MOST) kept.delete(kept.keys().next().value!);
    return { shown, views };
  }

  /** A recording is shown. @param views as it was left; that is known of one that was shown before */
  async show(
    id: string | null,
    views = id === null ? undefined : this.kept.get(id),
  ): Promise<void> {
    this.shown = id;
    if (!views) return;
    this.state.take(views.texts);
    await this.navigation.goTo(views.place);
  }
}
