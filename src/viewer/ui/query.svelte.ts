/**
 * A view's query to the store's worker, sent again whenever the trace or the arguments change. Only
 * one runs at a time, and the newest wins. While a recording runs, the interval depends on the
 * query's cost. A query that isn't needed any more (the view was left, the arguments have changed)
 * is canceled; the user can also cancel it.
 */
import { fromStore } from 'svelte/store';
import type { QueryHandle } from './query-client.ts';
import type { QueryProgress } from '../../protocol/session.ts';
import { viewerModel } from './viewer-context.ts';
import type { QueryArgs, QueryAnswer, QueryName } from '../../protocol/answers/queries.ts';

/** The state of an awaited answer that a view shows (parts/Waiting.svelte). */
export interface QueryState {
  /** Why there is no newer answer, as text for the user. */
  readonly error: string | null;
  /** A newer answer than the current one is awaited. */
  readonly busy: boolean;
  /** There is an answer, maybe an older one. */
  readonly shown: boolean;
  /**
   * It has taken so long that progress is shown; `of` 0 = not known. null = not long, or nothing is
   * awaited.
   */
  readonly progress: Omit<QueryProgress, 'id'> | null;
  /** The user has canceled it. Other arguments or another trace are queried anyway. */
  readonly stopped: boolean;
  cancel(): void;
  /** After it was canceled, or has failed. */
  retry(): void;
}
interface QueryResult<T, Args> extends QueryState {
  /**
   * The last answer, shown until the next one arrives. null before the first, and after the subject
   * has changed.
   */
  readonly value: T | null;
  /** The arguments that `value` answers: for a moving range, the previous ones. */
  readonly args: Args | null;
}
interface QueryOptions<Args> {
  /**
   * The subject of the arguments. An answer about one statement isn't valid for the next, so it is
   * removed at once. Without a subject, the last answer stays until the next one: for a range or
   * width, the old picture is better than none.
   */
  about?: (args: Args) => unknown;
  /**
   * For a growing trace: the pause after an answer, as a multiple of the time that the answer took.
   */
  pauseRatio?: number;
  /** Also sent again when more timeline lanes were computed. */
  ofPictures?: boolean;
}

/**
 * The trace: a canceled query is sent again for the next trace, and as soon as its recording has
 * ended.
 */
interface Of {
  trace: number;
  file: unknown;
  recording: boolean;
}
const same = (a: Of, b: Of): boolean =>
  a.trace === b.trace && a.file === b.file && a.recording === b.recording;
/** Identifies a query, regardless of how far the trace has grown. */
interface SentQuery {
  key: string;
  of: Of;
}
const sameQuery = (a: SentQuery | null, b: SentQuery | null): boolean =>
  a?.key === b?.key && a?.of.trace === b?.of.trace;

/**
 * Minimum time between two answers of a growing trace, and the minimum as a multiple of the time
 * that one took.
 */
const PAUSE_MS = 400;
const PAUSE_RATIO = 3;
/**
 * How long to wait before it is sent again, ms; below 0 = not any more. @param last when it was
 * answered (performance.now) and how long that took, ms
 */
export const pauseAfter = (last: { at: number; took: number }, ratio = PAUSE_RATIO): number =>
  last.at + Math.max(PAUSE_MS, ratio * last.took) - performance.now();
/** After this long, progress is shown. */
const SLOW_MS = 500;
const NOT_KNOWN = { what: '', done: 0, of: 0 } as const;

/**
 * Run a query while the calling component lives. Call it in a component's script.
 * @param args read reactively; null sends nothing
 */
export function useQuery<N extends QueryName>(
  name: N,
  args: () => QueryArgs<N> | null,
  { about, pauseRatio = PAUSE_RATIO, ofPictures = false }: QueryOptions<QueryArgs<N>> = {},
): QueryResult<QueryAnswer<N>, QueryArgs<N>> {
  const model = viewerModel();
  const version = fromStore(ofPictures ? model.pictures : model.version);
  const trace = fromStore(model.trace);
  const file = fromStore(model.file);
  const stats = fromStore(model.stats);
  const paused = fromStore(model.paused);
  const recording = $derived(stats.current?.recording ?? false);
  const wanted = $derived(args());
  const key = $derived(wanted && JSON.stringify(wanted));
  const thing = $derived(about && JSON.stringify(wanted && about(wanted)));
  let last = $state.raw<{
    value: QueryAnswer<N>;
    args: QueryArgs<N>;
    trace: number;
    thing: string | undefined;
  } | null>(null);
  let failed = $state.raw<(SentQuery & { why: string }) | null>(null);
  const answer = $derived(last?.trace === trace.current && last.thing === thing ? last : null);
  const error = $derived(
    failed?.key === key && failed?.of.trace === trace.current ? failed.why : null,
  );
  let busy = $state(false);
  let progress = $state.raw<QueryState['progress']>(null);
  let stopped = $state(false);
  let wish:
    (SentQuery & { args: QueryArgs<N>; thing: string | undefined; version: number }) | null = null;
  let answered: (SentQuery & { version: number; at: number; took: number }) | null = null;
  let stoppedWish: SentQuery | null = null;
  let running: (SentQuery & { query: QueryHandle<QueryAnswer<N>> }) | null = null;
  let timer: ReturnType<typeof setTimeout> | undefined;

  /** A paused view doesn't wait for newer answers. */
  const settled = (): boolean =>
    wish === null ||
    stopped ||
    (sameQuery(answered, wish) && (paused.current || answered!.version >= wish.version));
  function plan(): void {
    clearTimeout(timer);
    stopped = wish !== null && stoppedWish?.key === wish.key && same(stoppedWish.of, wish.of);
    busy = !settled();
    if (running && !sameQuery(running, wish)) running.query.cancel();
    if (running || !busy || !wish) return;
    const again = answered !== null && sameQuery(answered, wish);
    // a complete trace changes once or twice, and the answer is known
    const pause = again && recording ? pauseAfter(answered!, pauseRatio) : 0;
    timer = setTimeout(() => void run(), Math.max(0, pause));
  }
  async function run(): Promise<void> {
    const asked = wish!;
    const { args: said, key, of, thing } = asked;
    const began = performance.now();
    let [slow, heard] = [false, null as QueryState['progress']];
    const query = model.queries.run(name, said, (now) => {
      heard = now;
      if (slow) progress = now;
    });
    running = { key, of, query };
    const first = answer === null || !sameQuery(answered, asked);
    const late = setTimeout(() => {
      slow = true;
      // a growing trace is queried repeatedly: what is shown stays valid
      progress = heard ?? (first ? NOT_KNOWN : null);
    }, SLOW_MS);
    let canceled = false;
    try {
      const value = await query.answer;
      if (sameQuery(wish, asked)) {
        last = { value, args: said, trace: of.trace, thing };
        failed = null;
      }
    } catch (e) {
      canceled = e instanceof Error && e.name === 'AbortError';
      if (!canceled) failed = { key, of, why: e instanceof Error ? e.message : String(e) };
    }
    clearTimeout(late);
    progress = null;
    running = null;
    const now = performance.now();
    if (!canceled) {
      // sent while a file was read, it is about the whole file
      const version = ofPictures ? asked.version : Math.max(asked.version, query.version);
      answered = { key, of, version, at: now, took: now - began };
    }
    plan();
  }

  $effect(() => {
    const of = { trace: trace.current, file: file.current, recording };
    void paused.current; // the delayed query is sent
    wish =
      wanted === null || key === null
        ? null
        : {
            args: $state.snapshot(wanted) as QueryArgs<N>,
            key,
            thing,
            version: version.current,
            of,
          };
    plan();
  });
  $effect(() => () => {
    clearTimeout(timer);
    wish = null;
    running?.query.cancel();
  });

  return {
    get value() {
      return answer?.value ?? null;
    },
    get args() {
      return answer?.args ?? null;
    },
    get error() {
      return error;
    },
    get busy() {
      return busy;
    },
    get shown() {
      return answer !== null;
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
      running?.query.cancel();
      progress = null;
      plan();
    },
    retry() {
      stoppedWish = null;
      answered = null;
      failed = null;
      plan();
    },
  };
}
