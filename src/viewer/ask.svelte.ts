/**
 * A view's question to the store's worker, asked again whenever the trace or the arguments change: one at a time, the newest
 * wish wins, and while a recording runs no more often than the answers can be had cheaply.
 */
import { fromStore } from 'svelte/store';
import type { ViewerModel } from './model.ts';
import type { QueryArgs, QueryAnswer, QueryName } from './worker/queries/index.ts';

export interface Answer<T> {
  /** The last answer, shown until the next is there; null before the first. */
  readonly value: T | null;
  /** Why there is no newer answer, in words for the user. */
  readonly error: string | null;
  /** An answer is awaited that is newer than `value`. */
  readonly busy: boolean;
}

/** At least this long between two answers of a growing trace, and at least so many times as long as one took. */
const PAUSE_MS = 400;
const PAUSE_RATIO = 3;

/**
 * Ask while the calling component lives. Call it in a component's script.
 * @param args read reactively; null asks nothing
 */
export function ask<N extends QueryName>(model: ViewerModel, name: N, args: () => QueryArgs<N> | null): Answer<QueryAnswer<N>> {
  const version = fromStore(model.version);
  let value = $state.raw<QueryAnswer<N> | null>(null);
  let error = $state<string | null>(null);
  let busy = $state(false);
  let wish: { args: QueryArgs<N>; key: string; version: number } | null = null;
  let answered: { key: string; version: number; at: number; took: number } | null = null;
  let running = false;
  let timer: ReturnType<typeof setTimeout> | undefined;

  const settled = (): boolean => wish === null || (answered?.key === wish.key && answered.version === wish.version);
  function plan(): void {
    clearTimeout(timer);
    busy = !settled();
    if (running || !busy || !wish) return;
    const sameQuestion = answered?.key === wish.key;
    const pause = answered && sameQuestion ? answered.at + Math.max(PAUSE_MS, PAUSE_RATIO * answered.took) - performance.now() : 0;
    timer = setTimeout(() => void run(), Math.max(0, pause));
  }
  async function run(): Promise<void> {
    const asked = wish!;
    const began = performance.now();
    running = true;
    try {
      const answer = (await model.session.ask(name, asked.args)) as QueryAnswer<N>;
      if (wish?.key === asked.key) {
        value = answer;
        error = null;
      }
    } catch (e) {
      error = e instanceof Error ? e.message : String(e);
    }
    running = false;
    const now = performance.now();
    answered = { key: asked.key, version: asked.version, at: now, took: now - began };
    plan();
  }

  $effect(() => {
    const wanted = args();
    wish =
      wanted === null ? null : { args: $state.snapshot(wanted) as QueryArgs<N>, key: JSON.stringify(wanted), version: version.current };
    plan();
  });
  $effect(() => () => {
    clearTimeout(timer);
    wish = null;
  });

  return {
    get value() {
      return value;
    },
    get error() {
      return error;
    },
    get busy() {
      return busy;
    },
  };
}
