/**
 * The last state of each recording: the views' settings, the time range, the selection. It lasts as
 * long as the viewer, so that switching between recordings restores everything.
 */
import { get } from 'svelte/store';
import { HISTORY } from '../../protocol/session.ts';
import type { Memento, Navigation } from './navigation.ts';
import type { ViewState } from './view-state.ts';

interface Views {
  place: Memento;
  texts: Readonly<Record<string, string>>;
}

/** Parts of a flight recorder are separate recordings. */
const MOST = 3 * HISTORY.recordings;

export class KeptViews {
  /** Id of the recording on screen (Spool); null = none, or a file. */
  private shown: string | null = null;
  private readonly kept = new Map<string, Views>();

  constructor(
    private readonly navigation: Navigation,
    private readonly state: ViewState,
  ) {}

  /** Another trace is about to be shown. @returns the state that is left, for `show` */
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

  /** A recording is shown. @param views its last state; known if it was shown before */
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
