/**
 * A view's question to the store's worker, asked again whenever the trace or the arguments change: one at a time, the newest
 * wish wins, and while a recording runs no more often than the answers can be had cheaply. A question that nobody needs any more
 * (the view was left, the arguments have changed) is cancelled; so is one when the user has enough of waiting.
 */
import { fromStore } from 'svelte/store';
import type { Asking } from './questions.ts';
import type { AskProgress } from './session-api.ts';
import { viewerModel } from './viewer-context.ts';
import type { QueryArgs, QueryAnswer, QueryName } from './worker/queries/index.ts';

/** What a view that waits for several answers shows of each (parts/Waiting.svelte). */
export interface Awaited {
  /** Why there is no newer answer, in words for the user. */
  readonly error: string | null;
  /** An answer is awaited that is newer than the one that there is. */
  readonly busy: boolean;
  /** An answer is there, maybe an older one. */
  readonly shown: boolean;
  /** It has taken so long that the user is told how far it is; `of` 0 = not known. null = not long, or nothing is awaited. */
  readonly progress: Omit<AskProgress, 'id'> | null;
  /** The user has cancelled it; other arguments or another trace are asked for all the same. */
  readonly stopped: boolean;
  cancel(): void;
  /** After it was stopped, or has failed. */
  again(): void;
}
export interface Answer<T> extends Awaited {
  /** The last answer, shown until the next is there; null before the first. */
  readonly value: T | null;
}

/** Which trace is asked about: a question that was stopped is asked of the next one. */
interface Of {
  file: unknown;
  recording: boolean;
}
const same = (a: Of, b: Of): boolean => a.file === b.file && a.recording === b.recording;

/** At least this long between two answers of a growing trace, and at least so many times as long as one took. */
const PAUSE_MS = 400;
const PAUSE_RATIO = 3;
/** Who waits longer is told how far it is. */
const SLOW_MS = 500;
const NOT_KNOWN = { what: '', done: 0, of: 0 } as const;

/**
 * Ask while the calling component lives. Call it in a component's script.
 * @param args read reactively; null asks nothing
 */
export function ask<N extends QueryName>(name: N, args: () => QueryArgs<N> | null): Answer<QueryAnswer<N>> {
  const model = viewerModel();
  const version = fromStore(model.version);
  const file = fromStore(model.file);
  const stats = fromStore(model.stats);
  const recording = $derived(stats.current?.recording ?? false);
  let value = $state.raw<QueryAnswer<N> | null>(null);
  let error = $state<string | null>(null);
  let busy = $state(false);
  let progress = $state.raw<Awaited['progress']>(null);
  let stopped = $state(false);
  let wish: { args: QueryArgs<N>; key: string; version: number; of: Of } | null = null;
  let answered: { key: string; version: number; at: number; took: number } | null = null;
  let stoppedWish: { key: string; of: Of } | null = null;
  let running: { key: string; question: Asking<QueryAnswer<N>> } | null = null;
  let timer: ReturnType<typeof setTimeout> | undefined;

  const settled = (): boolean => wish === null || stopped || (answered?.key === wish.key && answered.version === wish.version);
  function plan(): void {
    clearTimeout(timer);
    stopped = wish !== null && stoppedWish?.key === wish.key && same(stoppedWish.of, wish.of);
    busy = !settled();
    if (running && running.key !== wish?.key) running.question.cancel();
    if (running || !busy || !wish) return;
    const sameQuestion = answered?.key === wish.key;
    const pause = answered && sameQuestion ? answered.at + Math.max(PAUSE_MS, PAUSE_RATIO * answered.took) - performance.now() : 0;
    timer = setTimeout(() => void run(), Math.max(0, pause));
  }
  async function run(): Promise<void> {
    const asked = wish!;
    const began = performance.now();
    let [slow, heard] = [false, null as Awaited['progress']];
    const question = model.questions.ask(name, asked.args, (said) => {
      heard = said;
      if (slow) progress = said;
    });
    running = { key: asked.key, question };
    const first = value === null || answered?.key !== asked.key;
    const late = setTimeout(() => {
      slow = true;
      progress = heard ?? (first ? NOT_KNOWN : null); // a growing trace is asked about again and again: what is shown holds
    }, SLOW_MS);
    let cancelled = false;
    try {
      const answer = await question.answer;
      if (wish?.key === asked.key) {
        value = answer;
        error = null;
      }
    } catch (e) {
      cancelled = e instanceof Error && e.name === 'AbortError';
      if (!cancelled) error = e instanceof Error ? e.message : String(e);
    }
    clearTimeout(late);
    progress = null;
    running = null;
    const now = performance.now();
    if (!cancelled) answered = { key: asked.key, version: asked.version, at: now, took: now - began };
    plan();
  }

  $effect(() => {
    const wanted = args();
    const of = { file: file.current, recording };
    wish =
      wanted === null ? null : { args: $state.snapshot(wanted) as QueryArgs<N>, key: JSON.stringify(wanted), version: version.current, of };
    plan();
  });
  $effect(() => () => {
    clearTimeout(timer);
    wish = null;
    running?.question.cancel();
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
    get shown() {
      return value !== null;
    },
    get progress() {
      return progress;
    },
    get stopped() {
      return stopped;
    },
    cancel() {
      if (!wish) return;
      stoppedWish = { key: wish.key, of: wish.of };
      running?.question.cancel();
      progress = null;
      plan();
    },
    again() {
      stoppedWish = null;
      answered = null;
      error = null;
      plan();
    },
  };
}
