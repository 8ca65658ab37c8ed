/**
 * A view's query to the store's worker, sent again whenever the trace or the arguments change: one at a time, the newest wins, and
 * while a recording runs no more often than its answer is cheap. A query that is not needed any more (the view was left, the arguments
 * have changed) is canceled; the user can cancel one, too.
 */
import { fromStore } from 'svelte/store';
import type { QueryHandle } from './query-client.ts';
import type { QueryProgress } from '../../protocol/session.ts';
import { viewerModel } from './viewer-context.ts';
import type { QueryArgs, QueryAnswer, QueryName } from '../../protocol/answers/queries.ts';

/** What a view that waits for several answers shows of each (parts/Waiting.svelte). */
export interface QueryState {
  /** Why there is no newer answer, as text for the user. */
  readonly error: string | null;
  /** An answer is awaited that is newer than the one that there is. */
  readonly busy: boolean;
  /** An answer is there, maybe an older one. */
  readonly shown: boolean;
  /** It has taken so long that the user is told how far it is; `of` 0 = not known. null = not long, or nothing is awaited. */
  readonly progress: Omit<QueryProgress, 'id'> | null;
  /** The user has canceled it; other arguments or another trace are asked for anyway. */
  readonly stopped: boolean;
  cancel(): void;
  /** After it was stopped, or has failed. */
  retry(): void;
}
interface QueryResult<T, Args> extends QueryState {
  /** The last answer, shown until the next is there; null before the first, and where what is asked about is another thing. */
  readonly value: T | null;
  /** What `value` answers: of a range that moves, the one before. */
  readonly args: Args | null;
}
interface QueryOptions<Args> {
  /**
   * What the arguments name: the answer about one statement is none about the next, and is gone at once. Without it the last answer stays
   * until its successor is there: of a range or width the old picture is better than none.
   */
  about?: (args: Args) => unknown;
  /** Of a growing trace: so many times as long as an answer took, none is asked for. */
  pauseRatio?: number;
  /** Asked again also when lanes of the timeline were computed further. */
  ofPictures?: boolean;
}

/** The trace: a query that was stopped is sent again for the next one, and as soon as its recording has ended. */
interface Of {
  trace: number;
  file: unknown;
  recording: boolean;
}
const same = (a: Of, b: Of): boolean =>
  a.trace === b.trace && a.file === b.file && a.recording === b.recording;
/** A query apart from how far the trace has grown. */
interface SentQuery {
  key: string;
  of: Of;
}
const sameQuery = (a: SentQuery | null, b: SentQuery | null): boolean =>
  a?.key === b?.key && a?.of.trace === b?.of.trace;

/** At least this long between two answers of a growing trace, and at least so many times as long as one took. */
const PAUSE_MS = 400;
const PAUSE_RATIO = 3;
/** How long to wait before it is asked again, ms; below 0 = no longer. @param last when it was answered (performance.now) and what that took, ms */
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

  /** A view that is held still waits for no newer answer. */
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
    // a trace that is whole changes once or twice, and the answer is known
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
      progress = heard ?? (first ? NOT_KNOWN : null); // a growing trace is asked about again and again: what is shown holds
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
      // asked while a file was read, it is of the whole file
      const version = ofPictures ? asked.version : Math.max(asked.version, query.version);
      answered = { key, of, version, at: now, took: now - began };
    }
    plan();
  }

  $effect(() => {
    const of = { trace: trace.current, file: file.current, recording };
    void paused.current; // what was held back is asked for
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
