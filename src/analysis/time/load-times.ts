/**
 * How long an engine takes to load: fetching its wasm, compiling, instantiating, opening a
 * database, the first read, up to the first statement's first result. Parts overlap (a module
 * compiles while it streams, a read is part of a statement), so don't add them up.
 *
 *   fetch   ████████████
 *   instantiate  ███████████            (compiling is in it, unless the app compiled before)
 *   open                     █
 *   first statement            ████
 *   first read                   ██     total: from the first of them to the end of the statement
 */
import { Op } from '../../event/event.ts';
import type { ThreadStore, TraceStore } from '../../trace/store.ts';
import { fact } from '../core/graph.ts';

type LoadStep = 'fetch' | 'compile' | 'instantiate' | 'open' | 'first statement' | 'first read';
export interface LoadPart {
  step: LoadStep;
  /** Microseconds; both null if not known, see `cause`. */
  fromUs: number | null;
  us: number | null;
  cause: string;
  /** Row of its call, -1 if there is none. */
  row: number;
}
export interface EngineLoad {
  /** Place in TraceStore.threads. */
  thread: number;
  engine: string;
  parts: LoadPart[];
  /** Bytes of the module; null = not known. */
  bytes: number | null;
  /** Bytes transferred: compressed, or 0 from a cache of the browser. */
  traveled: number | null;
  /** From the first part to the end of the first statement; null without one. */
  totalUs: number | null;
  fromUs: number;
}

const NO_REQUEST =
  'the browser reports no request for it: it came from a blob, a cache of the app, or another origin';

/** For every engine whose loading was recorded, in the order of threads. */
export const loadTimes = fact('loadTimes', 'loading of engines', {}, loadTimesOf);

function loadTimesOf(store: TraceStore): EngineLoad[] {
  return store.threads.flatMap((thread) =>
    thread.engines.flatMap(({ name, load }) => {
      const row = load === undefined ? -1 : thread.events.rowOfSeq(load);
      return row >= 0 && thread.events.op[row] === Op.wasmInstantiate
        ? [loadOf(store, thread, name, row)]
        : [];
    }),
  );
}

function loadOf(
  store: TraceStore,
  thread: ThreadStore,
  engine: string,
  instantiate: number,
): EngineLoad {
  const { events } = thread;
  const compile = events.context[instantiate] ? events.rowOfSeq(events.context[instantiate]!) : -1;
  const isCompile = compile >= 0 && events.op[compile] === Op.wasmCompile;
  const url = events.aux[isCompile ? compile : instantiate]!;
  const fetched = url
    ? firstRow(thread, 0, (row) => events.op[row] === Op.wasmFetch && events.object[row] === url)
    : -1;
  const parts: LoadPart[] = [
    fetched < 0
      ? unknown('fetch', NO_REQUEST)
      : {
          step: 'fetch' as const,
          row: fetched,
          cause: '',
          us: events.aux[fetched]!,
          fromUs: (thread.info.timeOrigin + events.offset[fetched]! - store.originMs) * 1000,
        },
    isCompile
      ? callPart(thread, 'compile', compile)
      : unknown('compile', 'part of instantiate: the app asked for both at once'),
    callPart(thread, 'instantiate', instantiate),
    ...useParts(thread, instantiate),
  ];
  const known = parts.filter((part) => part.fromUs !== null);
  const fromUs = Math.min(...known.map((part) => part.fromUs!));
  const statement = parts.find(({ step }) => step === 'first statement')!;
  const length = events.length[isCompile ? compile : instantiate]!;
  return {
    thread: thread.index,
    engine,
    parts,
    fromUs,
    bytes: length || (fetched < 0 ? 0 : events.aux2[fetched]!) || null,
    traveled: fetched < 0 ? null : events.length[fetched]!,
    totalUs: statement.us === null ? null : statement.fromUs! + statement.us - fromUs,
  };
}

/** The first uses of the engine. */
function useParts(thread: ThreadStore, after: number): LoadPart[] {
  const { events, definitions, engines } = thread;
  const steps: LoadStep[] = ['open', 'first statement', 'first read'];
  if (engines.length > 1)
    return steps.map((step) =>
      unknown(step, "its thread has several engines, whose calls vfscope can't distinguish"),
    );
  const is = (...ops: number[]): number =>
    firstRow(thread, after, (row) => ops.includes(events.op[row]!) && events.endSeq[row] !== 0);
  const [open, prepare, step] = [
    is(Op.sqlOpen),
    is(Op.sqlPrepare, Op.sqlExec),
    is(Op.sqlStep, Op.sqlExec),
  ];
  const read = firstRow(thread, after, (row) => {
    const file =
      events.op[row] === Op.xRead && events.endSeq[row] !== 0
        ? definitions.get(events.object[row]!)
        : undefined;
    return file?.kind === 'file' && file.fileKind === 'main-db';
  });
  const statement = (): LoadPart => {
    if (step < 0) return unknown('first statement', 'no statement ran');
    const from = prepare >= 0 && prepare < step ? prepare : step;
    const fromUs = events.t0[from]!;
    return {
      step: 'first statement',
      fromUs,
      us: events.t0[step]! + events.dur[step]! - fromUs,
      cause: '',
      row: from,
    };
  };
  return [
    open < 0
      ? unknown('open', 'no call that opens a database was recorded')
      : callPart(thread, 'open', open),
    statement(),
    read < 0
      ? unknown('first read', 'no read of a database through a VFS was recorded')
      : callPart(thread, 'first read', read),
  ];
}

function firstRow({ events }: ThreadStore, from: number, is: (row: number) => boolean): number {
  for (let row = from; row < events.count; row++) if (is(row)) return row;
  return -1;
}

const unknown = (step: LoadStep, cause: string): LoadPart => ({
  step,
  fromUs: null,
  us: null,
  cause,
  row: -1,
});

function callPart({ events }: ThreadStore, step: LoadStep, row: number): LoadPart {
  const ended = events.endSeq[row] !== 0;
  return {
    step,
    fromUs: events.t0[row]!,
    us: ended ? events.dur[row]! : null,
    cause: ended ? '' : 'it had not ended with the recording',
    row,
  };
}
