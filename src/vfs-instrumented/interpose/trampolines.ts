/**
 * One generated wasm module with a trampoline per function-table slot: record, call the engine's
 * own function, record its result. Its frames are wasm only, so JSPI can suspend through them. A
 * suspended Asyncify call is stored and resumed at its rewind.
 */
import { Field, Flag, Op } from '../../event/event.ts';
import { Header } from '../../record/ring-layout.ts';
import {
  Block,
  FileEntry,
  HEADERS_SHIFT,
  MAX_SUSPENDED,
  RECORD_FLAGS,
  Suspended,
} from './engine-block.ts';
import { NativeInstance, NativeModule, type WasmFunction } from './natives.ts';
import { Headed, decodeParts, type Decoder } from './header-decode.ts';
import { STRUCTURE, structureBody } from './structure-decode.ts';
import {
  BEGIN,
  FINISH,
  LOOKUP,
  beginBody,
  finishBody,
  lookupBody,
  setWord,
  word,
} from './trampoline-parts.ts';
import * as w from './wasm-writer.ts';
import { OP, type Bytes, type Signature } from './wasm-writer.ts';

/**
 * The assumed kind of a slot. `transfer`: xRead or xWrite, known once a struct refers to it (then
 * in the engine block's `ops`).
 */
export type Role = 'io' | 'transfer' | 'open' | 'name';

export interface Trampoline {
  readonly cell: number;
  readonly slot: number;
  readonly signature: Signature;
  readonly role: Role;
  /** Operation code; 0 for `transfer`. */
  readonly op: number;
  readonly original: WasmFunction;
}

/** JavaScript that trampolines call. Calls are rare, and it never throws. */
export interface TrampolineHost {
  /** @param seq of the record that begins or ends */
  now(seq: number): number;
  /** The ring needs to be drained. */
  pressure(): void;
  /** An unknown file or pMethods. @returns byte address of its entry, or 0 */
  discover(cell: number, file: number, pMethods: number): number;
  /** Before a call that looks like xOpen. @returns id of the file, or 0 when it isn't one */
  opening(cell: number, pVfs: number, zName: number, flags: number): number;
  opened(file: number, pVfs: number, object: number, rc: number): void;
  closed(file: number): void;
  /**
   * The header of a WAL was written or read. It contains the page size.
   * @param at address of its 32 bytes
   */
  walHeader(file: number, at: number): void;
  /**
   * A page that shows the structure of its database.
   * @param object id of the database or its WAL
   * @param at address of its bytes
   * @param page number from the frame's header; else 0
   * @param write 1, or 0 = read
   */
  image(
    object: number,
    page: number,
    at: number,
    length: number,
    write: number,
    offset: number,
  ): void;
  /** Before xDelete or xAccess. @returns id of the file, or 0 when the call isn't one of them */
  named(cell: number, pVfs: number, zName: number): number;
  /** A slot that turned out not to be an xOpen. */
  giveBack(cell: number): void;
  /**
   * Called with 0 and 0 before an xRead or xWrite, and again after it. undefined: the engine's
   * memory isn't watched.
   * @param before bytes, as returned before the call
   * @returns bytes of the engine's memory
   */
  readonly grew: ((seq: number, before: number) => number) | undefined;
}

interface TrampolineOptions {
  readonly memory: WebAssembly.Memory;
  readonly capacity: number;
  /** Pages, if the trace memory is shared. */
  readonly shared: { initial: number; maximum: number } | null;
  readonly block: number;
  readonly asyncify: boolean;
  readonly peek: WasmFunction;
  readonly host: TrampolineHost;
}

/** Maximum calls that don't match before a slot is given back. */
const PATIENCE = 64;
const UNTIMED: ReadonlySet<number> = new Set([Op.xSectorSize, Op.xDeviceCharacteristics]);
/** Operations whose second argument is recorded as a detail: level, flags, opcode. */
const AUX_IN_1: ReadonlySet<number> = new Set([
  Op.xSync,
  Op.xLock,
  Op.xUnlock,
  Op.xFileControl,
  Op.xShmUnmap,
]);

/** Locals of a trampoline. They have names where its body is generated. */
const LOCALS = 13;

const NOW = 0;
const PRESSURE = 1;
const DISCOVER = 2;
const OPENING = 3;
const OPENED = 4;
const CLOSED = 5;
const NAMED = 6;
const GIVE_BACK = 7;
const WAL_HEADER = 8;
const IMAGE = 9;
const GREW = 10;
const PEEK = 11;
const FIRST = 12;
const HOST: readonly (readonly [keyof TrampolineHost, Signature])[] = [
  ['now', { params: 'i', results: 'd' }],
  ['pressure', { params: '', results: '' }],
  ['discover', { params: 'iii', results: 'i' }],
  ['opening', { params: 'iiii', results: 'i' }],
  ['opened', { params: 'iiii', results: '' }],
  ['closed', { params: 'i', results: '' }],
  ['named', { params: 'iii', results: 'i' }],
  ['giveBack', { params: 'i', results: '' }],
  ['walHeader', { params: 'ii', results: '' }],
  ['image', { params: 'iiiiid', results: '' }],
  ['grew', { params: 'ii', results: 'i' }],
];

/**
 * @returns a function per trampoline, of its slot's own type, in order
 * @throws CompileError, LinkError
 */
export function makeTrampolines(list: readonly Trampoline[], o: TrampolineOptions): WasmFunction[] {
  const types: Bytes[] = [];
  const known = new Map<string, number>();
  const type = (s: Signature): number => {
    const key = `${s.params}>${s.results}`;
    let index = known.get(key);
    if (index === undefined) known.set(key, (index = types.push(w.functionType(s)) - 1));
    return index;
  };
  const imports = [
    w.importMemory('t', 'm', o.shared),
    ...HOST.map(([name, s]) => w.importFunction('t', name, type(s))),
    w.importFunction('e', 'p', type({ params: 'i', results: 'i' })),
    ...list.map((t, k) => w.importFunction('o', `f${k}`, type(t.signature))),
  ];
  const lookup = FIRST + list.length;
  const decoder = decodeParts(lookup + 3, PEEK);
  const shared = [LOOKUP, BEGIN, FINISH, ...decoder.signatures, STRUCTURE];
  const functions = [...shared, ...list.map((t) => t.signature)].map((s) => w.leb(type(s)));
  const parts = {
    capacity: o.capacity,
    shared: o.shared !== null,
    block: o.block,
    now: NOW,
    pressure: PRESSURE,
  };
  const bodies = [
    ...[
      lookupBody(parts),
      beginBody(parts),
      finishBody(parts),
      ...decoder.bodies,
      structureBody(PEEK, IMAGE, o.block),
    ],
    ...list.map((t, k) => trampolineBody(t, FIRST + k, lookup, decoder, o)),
  ];
  const module = new NativeModule(
    w.moduleBytes(
      w.section(1, w.vector(types)),
      w.section(2, w.vector(imports)),
      w.section(3, w.vector(functions)),
      w.section(
        7,
        w.vector(list.map((_, k) => w.exportFunction(`f${k}`, lookup + shared.length + k))),
      ),
      w.section(10, w.vector(bodies)),
    ),
  );
  const { host } = o;
  const instance = new NativeInstance(module, {
    t: { m: o.memory, ...Object.fromEntries(HOST.map(([name]) => [name, host[name] ?? host.now])) },
    e: { p: o.peek },
    o: Object.fromEntries(list.map((t, k) => [`f${k}`, t.original])),
  });
  return list.map((_, k) => instance.exports[`f${k}`] as WasmFunction);
}

function trampolineBody(
  t: Trampoline,
  original: number,
  lookup: number,
  decoder: Decoder,
  o: TrampolineOptions,
): Bytes {
  const begin = lookup + 1;
  const finish = lookup + 2;
  const { params, results } = t.signature;
  const n = params.length;
  const [at, seq, parent, context, object, rc] = [n, n + 1, n + 2, n + 3, n + 4, n + 5] as const;
  const [entry, op, flags] = [n + 6, n + 7, n + 8] as const;
  const [header, says, says2, bytes] = [n + 9, n + 10, n + 11, n + 12] as const;
  const timed = w.i32(UNTIMED.has(t.op) ? 0 : 1);
  const untimedFlag = UNTIMED.has(t.op) ? Flag.untimed << 8 : 0;
  const isTransfer = t.role === 'transfer';

  // ---- the record: operation, file, offset, length, aux
  const bigArgument = params.indexOf('j');
  const offset = bigArgument >= 0 ? [...w.get(bigArgument), OP.f64FromI64] : w.f64(NaN);
  const length = isTransfer || t.op === Op.xFetch ? w.get(2) : w.i32(0);
  const auxArgument =
    t.role === 'open' || t.op === Op.xShmLock
      ? 3
      : t.role === 'name'
        ? 2
        : AUX_IN_1.has(t.op)
          ? 1
          : null;
  const aux = auxArgument === null ? w.i32(0) : w.get(auxArgument);
  const beginRecord = (opBytes: Bytes, aux1: Bytes = aux, aux2: Bytes = w.i32(0)): Bytes => [
    ...[
      ...opBytes,
      ...w.get(object),
      ...offset,
      ...length,
      ...aux1,
      ...timed,
      ...aux2,
      ...w.call(begin),
      ...w.tee(at),
    ],
    ...w.when([
      ...[...w.get(at), ...w.load(Field.seq), ...w.set(seq)],
      ...[...w.get(at), ...w.load(Field.parent), ...w.set(parent)],
      ...[...w.get(at), ...w.load(Field.context), ...w.set(context)],
      ...setWord(Header.current, w.get(seq)), // what begins in the call belongs to ours
    ]),
  ];

  const opAndFlags = [
    ...w.get(op),
    ...w.get(entry),
    ...w.load(FileEntry.flags),
    ...w.i32(RECORD_FLAGS),
    OP.and,
    OP.or,
  ];

  // ---- xRead, xWrite: headers in their bytes. Written bytes are there before the call, read ones
  // after it.
  const [file, buffer] = [w.get(0), w.get(1)];
  const learnWal = [
    ...w.get(header),
    ...w.i32(Headed.walHeader),
    OP.eq,
    ...w.when([...file, ...buffer, ...w.call(WAL_HEADER)]),
  ];
  const headerSays = (which: number): Bytes => [...w.get(header), ...buffer, ...w.call(which)];
  const structure = (write: number): Bytes => [
    ...[
      ...w.get(header),
      ...w.get(says),
      ...w.get(says2),
      ...w.get(object),
      ...buffer,
      ...w.get(2),
      ...w.i32(write),
    ],
    ...[...w.get(3), ...w.call(decoder.behind)],
  ];
  const sayHeader = [
    ...headerSays(decoder.aux),
    ...w.set(says),
    ...headerSays(decoder.aux2),
    ...w.set(says2),
  ];
  const beginTransfer = (): Bytes => [
    ...[
      ...w.get(entry),
      ...w.load(FileEntry.flags),
      ...w.i32(HEADERS_SHIFT),
      OP.shrU,
      ...w.tee(header),
    ],
    ...w.when([
      ...w.get(header),
      ...w.get(2),
      ...w.get(3),
      ...w.call(decoder.where),
      ...w.set(header),
    ]),
    ...[...w.get(header), ...w.i32(0), OP.ne, ...w.get(op), ...w.i32(Op.xWrite), OP.eq, OP.and],
    ...w.when(
      [
        ...learnWal,
        ...sayHeader,
        ...structure(1),
        ...beginRecord(opAndFlags, w.get(says), w.get(says2)),
        ...[...w.i32(0), ...w.set(header)],
      ],
      beginRecord(opAndFlags),
    ),
  ];

  // ---- a new call
  const ofFile = (): Bytes => [
    ...[
      ...w.get(0),
      ...w.get(0),
      ...w.call(PEEK),
      ...w.tee(entry),
      ...w.call(lookup),
      ...w.tee(rc),
      OP.eqz,
    ],
    ...w.when([...w.i32(t.cell), ...w.get(0), ...w.get(entry), ...w.call(DISCOVER), ...w.set(rc)]),
    ...[...w.get(rc), ...w.tee(entry)],
    ...w.when([
      ...[...w.get(entry), ...w.load(FileEntry.object), ...w.set(object)],
      ...(isTransfer
        ? [...w.i32(0), ...w.load8(o.block + Block.ops + t.cell)]
        : w.i32(t.op | untimedFlag)),
      ...w.set(op),
      // no operation yet: a function of xRead's type that no struct refers to
      ...[...w.get(object), ...w.i32(0), OP.ne, ...w.get(op), ...w.i32(0), OP.ne, OP.and],
      ...w.when(isTransfer ? beginTransfer() : beginRecord(opAndFlags), [
        ...w.i32(0),
        ...w.set(object),
      ]),
    ]),
  ];
  const fresh: Record<Role, () => Bytes> = {
    // xClose ends the validity of the pointer, also while nothing is recorded
    io: () => (t.op === Op.xClose ? ofFile() : [...word(Header.enabled), ...w.when(ofFile())]),
    transfer: () => [...word(Header.enabled), ...w.when(ofFile())],
    open: () => [
      ...[...w.get(0), ...w.i32(24), OP.add, ...w.call(PEEK), ...w.i32(t.slot), OP.eq],
      ...w.when([
        ...[
          ...w.i32(t.cell),
          ...w.get(0),
          ...w.get(1),
          ...w.get(3),
          ...w.call(OPENING),
          ...w.tee(object),
        ],
        ...w.when(beginRecord(w.i32(Op.xOpen))),
      ]),
    ],
    name: () => [
      ...word(Header.enabled),
      ...w.when([
        ...[...w.i32(t.cell), ...w.get(0), ...w.get(1), ...w.call(NAMED), ...w.tee(object)],
        ...w.when(beginRecord(w.i32(t.op))),
      ]),
    ],
  };

  // ---- its end
  const miss = o.block + Block.misses + t.cell;
  const after: Record<Role, () => Bytes> = {
    io: () =>
      t.op === Op.xClose ? [...w.get(object), ...w.when([...w.get(0), ...w.call(CLOSED)])] : [],
    transfer: () => [],
    open: () => [
      ...w.get(object),
      ...w.when(
        [...w.get(2), ...w.get(0), ...w.get(object), ...w.get(rc), ...w.call(OPENED)],
        [
          ...[...word(o.block + Block.depth), OP.eqz], // a suspended call must find its trampoline again
          ...w.when([
            ...[...w.i32(0), ...w.i32(0), ...w.load8(miss), ...w.i32(1), OP.add, ...w.store8(miss)],
            ...[
              ...w.i32(0),
              ...w.load8(miss),
              ...w.i32(PATIENCE),
              OP.eq,
              ...w.when([...w.i32(t.cell), ...w.call(GIVE_BACK)]),
            ],
          ]),
        ],
      ),
    ],
    name: () => [],
  };
  const decodeRead = [
    ...[...w.get(rc), ...w.when([...w.i32(0), ...w.set(header)], learnWal)], // failed or short: nothing to decode
    ...[...w.i32(0), ...w.set(says), ...w.i32(0), ...w.set(says2)], // of a write: its begin has said it
    ...[...w.get(header), ...w.when(sayHeader)],
  ];
  const done = [
    ...w.get(at),
    ...w.when([
      ...(isTransfer ? decodeRead : []),
      ...[...w.get(at), ...w.get(seq), ...w.get(rc), ...w.get(flags), ...timed],
      ...(isTransfer ? [...w.get(says), ...w.get(says2)] : [...w.i32(0), ...w.i32(0)]),
      ...w.call(finish),
      ...setWord(Header.current, w.get(parent)),
      ...setWord(Header.context, w.get(context)),
      ...(isTransfer ? [...w.get(header), ...w.when(structure(0))] : []), // its time isn't part of the call
    ]),
    ...after[t.role](),
  ];
  const watches = o.host.grew && isTransfer;
  const callOriginal = [
    ...(watches ? [...w.i32(0), ...w.i32(0), ...w.call(GREW), ...w.set(bytes)] : []),
    ...[...params].flatMap((_, i) => w.get(i)),
    ...w.call(original),
    ...(results ? w.set(rc) : [...w.i32(0), ...w.set(rc)]),
    ...(watches ? [...w.get(seq), ...w.get(bytes), ...w.call(GREW), OP.drop] : []),
  ];

  // ---- Asyncify: at the unwind, each trampoline on the stack stores its record; at the rewind, it
  // takes it back, outermost first
  const state = word(o.block + Block.state);
  const depth = o.block + Block.depth;
  const inStack = [...word(depth), ...w.i32(MAX_SUSPENDED), OP.ltU];
  const top = [...word(depth), ...w.i32(Suspended.bytes), OP.mul];
  const kept: readonly (readonly [number, number])[] = [
    [Suspended.at, at],
    [Suspended.seq, seq],
    [Suspended.parent, parent],
    [Suspended.context, context],
    [Suspended.object, object],
    [Suspended.header, header],
  ];
  const stackAt = o.block + Block.suspended;
  const push = (): Bytes => [
    ...inStack,
    ...w.when(
      kept.flatMap(([field, local]) => [...top, ...w.get(local), ...w.store(stackAt + field)]),
    ),
    ...setWord(depth, [...word(depth), ...w.i32(1), OP.add]),
  ];
  const pop = (): Bytes => [
    ...setWord(depth, [...word(depth), ...w.i32(1), OP.sub]),
    ...inStack,
    ...w.when(
      kept.flatMap(([field, local]) => [...top, ...w.load(stackAt + field), ...w.set(local)]),
    ),
    ...[...w.i32(Flag.async << 8), ...w.set(flags)],
  ];
  const code = o.asyncify
    ? [
        ...[...state, ...w.i32(2), OP.eq, ...w.when(pop(), fresh[t.role]())],
        ...callOriginal,
        ...[...state, ...w.i32(1), OP.eq, ...w.when(push(), done)],
      ]
    : [...fresh[t.role](), ...callOriginal, ...done];
  return w.functionBody([[LOCALS, 'i']], [...code, ...(results ? w.get(rc) : [])]);
}
