/**
 * Records the calls of a wa-sqlite VFS object that one owns: own properties x* over the instance, which write the same records
 * as the trampolines of interpose/. For app authors and tests; what one does not own is traced by engines/install.ts.
 *
 * A method that answers at once still does, one that answers a promise still does, and Asyncify's second call of a 1.x method
 * is taken for what it is: the rewind of the first.
 */
import { Flag, Op, fileKindOfOpenFlags } from '../trace/event.ts';
import type { Recorder } from '../trace/recorder.ts';
import { FileNames } from './interpose/file-names.ts';
import { OpenCalls, type Call } from './overlay-calls.ts';
import { decodeHeader, decoded, type HeadedFile } from './overlay-headers.ts';
import { apiOf, type Api } from './overlay-api.ts';

type Method = (a: unknown, b?: unknown, c?: unknown, d?: unknown, e?: unknown) => unknown;

/** `io`: its first argument is the file; `transfer`: and it is xRead or xWrite; `name`: it names a file. */
type How = 'open' | 'transfer' | 'io' | 'name';
/** aux: which argument of an io method is a detail worth keeping (level, flags, opcode); -1 = none. */
const METHODS: readonly (readonly [name: string, op: number, how: How, aux: number])[] = [
  ['xOpen', Op.xOpen, 'open', -1],
  ['xClose', Op.xClose, 'io', -1],
  ['xRead', Op.xRead, 'transfer', -1],
  ['xWrite', Op.xWrite, 'transfer', -1],
  ['xTruncate', Op.xTruncate, 'io', -1],
  ['xSync', Op.xSync, 'io', 1],
  ['xFileSize', Op.xFileSize, 'io', -1],
  ['xLock', Op.xLock, 'io', 1],
  ['xUnlock', Op.xUnlock, 'io', 1],
  ['xCheckReservedLock', Op.xCheckReservedLock, 'io', -1],
  ['xFileControl', Op.xFileControl, 'io', 1],
  ['xSectorSize', Op.xSectorSize, 'io', -1],
  ['xDeviceCharacteristics', Op.xDeviceCharacteristics, 'io', -1],
  ['xShmMap', Op.xShmMap, 'io', -1],
  ['xShmLock', Op.xShmLock, 'io', 3],
  ['xShmBarrier', Op.xShmBarrier, 'io', -1],
  ['xShmUnmap', Op.xShmUnmap, 'io', 1],
  ['xDelete', Op.xDelete, 'name', -1],
  ['xAccess', Op.xAccess, 'name', -1],
];
const SQLITE_ERROR = 1;
const OVERLAID = Symbol('vfscope overlay');

const isThenable = (v: unknown): v is PromiseLike<unknown> =>
  typeof v === 'object' && v !== null && typeof (v as { then?: unknown }).then === 'function';

interface OpenFile extends HeadedFile {
  readonly object: number;
}

/** Where records go: a recorder, or a recording that `startRecording` began. */
export type RecordTarget = Recorder | { readonly recorder: Recorder };

/**
 * Record the calls that SQLite makes of this VFS, from now on. Before or after `vfs_register`, better before: the first calls
 * are seen, too. Works on wa-sqlite 1.x and 2.x and its forks, in sync, Asyncify and JSPI builds.
 * @returns the VFS itself @throws TypeError where it has no xRead and xWrite, or is instrumented already
 */
export function instrument<T extends object>(vfs: T, target: RecordTarget): T {
  const object = vfs as T & Record<string | symbol, unknown>;
  if (object[OVERLAID]) throw new TypeError('this VFS is instrumented already');
  for (const name of ['xOpen', 'xRead', 'xWrite'])
    if (typeof object[name] !== 'function') throw new TypeError(`not a wa-sqlite VFS: it has no ${name}`);
  Object.defineProperty(object, OVERLAID, { value: true, configurable: true });
  new Overlay(object, 'recorder' in target ? target.recorder : target).install();
  return vfs;
}

class Overlay {
  private readonly names: FileNames;
  private readonly files = new Map<unknown, OpenFile>();
  private readonly calls: OpenCalls;
  private readonly api: Api;
  /** Of 1.x with Asyncify: the call whose stack is unwound, to be called again. */
  private unwound: Call | null = null;
  private engine = 0;
  /** A method of the VFS runs right now: what it calls of itself is its own affair. */
  private inside = false;

  constructor(
    private readonly vfs: Record<string, unknown>,
    private readonly recorder: Recorder,
  ) {
    this.calls = new OpenCalls(recorder);
    this.api = apiOf(vfs);
    this.names = new FileNames(recorder, () => (this.engine ||= recorder.define({ kind: 'engine', ...this.api.engine() })));
  }

  install(): void {
    const { api } = this;
    if (api.version === 1) this.watchHandleAsync();
    for (const [name, op, how, aux] of METHODS) {
      const original = this.vfs[name];
      if (typeof original !== 'function') continue;
      // not enumerable: a VFS that looks at its own properties does not find them
      const value = this.wrap((original as Method).bind(this.vfs), op, how, aux);
      Object.defineProperty(this.vfs, name, { value, configurable: true, writable: true, enumerable: false });
    }
  }

  private wrap(original: Method, op: number, how: How, auxArgument: number): Method {
    const { recorder, calls } = this;
    return (a, b, c, d, e) => {
      if (this.inside) return original(a, b, c, d, e);
      let call = this.unwound;
      if (call) {
        if (call.op !== op || call.file !== a) return original(a, b, c, d, e); // what the suspended method does of itself
        this.unwound = null;
        call.resumed = true;
      } else if (recorder.enabled || op === Op.xClose || op === Op.xOpen) {
        call = this.begin(op, how, auxArgument, a, b, c, d, e);
      }
      const { suspensions } = this;
      let answer: unknown;
      this.inside = true;
      try {
        answer = original(a, b, c, d, e);
      } catch (error) {
        this.inside = false;
        if (call) this.finish(call, SQLITE_ERROR, Flag.threw, b);
        throw error;
      }
      this.inside = false;
      if (this.suspensions !== suspensions) {
        this.unwound = call ?? calls.untraced(op, a); // its answer comes with the rewind
        return answer;
      }
      if (!call) return answer;
      if (isThenable(answer)) return this.whenSettled(call, answer, b);
      this.finish(call, Number(answer), 0, b);
      return answer;
    };
  }

  private whenSettled(call: Call, answer: PromiseLike<unknown>, buffer: unknown): PromiseLike<unknown> {
    return answer.then(
      (rc) => {
        this.finish(call, Number(rc), Flag.async, buffer);
        return rc;
      },
      (error: unknown) => {
        this.finish(call, SQLITE_ERROR, Flag.async | Flag.threw, buffer);
        throw error;
      },
    );
  }

  private begin(op: number, how: How, auxArgument: number, a: unknown, b: unknown, c: unknown, d: unknown, e: unknown): Call | null {
    const { api, calls } = this;
    try {
      if (how === 'open') {
        const flags = Number(api.version === 1 ? c : d);
        const object = this.names.opened(api.openName(a, b), this.vfsName(), flags);
        this.files.set(api.version === 1 ? b : c, { object, kind: fileKindOfOpenFlags(flags), walPageBytes: 0 });
        return calls.begin(op, object, NaN, 0, flags, 0, a, null);
      }
      if (how === 'name') {
        const flags = Number(api.version === 1 ? b : c);
        return calls.begin(op, this.names.named(api.name(a, b), this.vfsName()), NaN, 0, flags, 0, a, null);
      }
      const file = this.files.get(a);
      const object = file ? file.object : this.names.stranger();
      if (how === 'transfer') {
        const offset = api.offset(c, d, e);
        const length = api.length(b, c);
        if (op === Op.xRead || !file) return calls.begin(op, object, offset, length, 0, 0, a, file ?? null);
        decodeHeader(file, api.bytes(b), api.at(b), offset, length);
        return calls.begin(op, object, offset, length, decoded.aux, decoded.aux2, a, null);
      }
      const aux = auxArgument < 0 ? 0 : Number(auxArgument === 1 ? b : d);
      return calls.begin(op, object, op === Op.xTruncate ? api.size(b, c) : NaN, 0, aux, 0, a, null);
    } catch (error) {
      this.recorder.fault('a VFS call', error);
      return null;
    }
  }

  private finish(call: Call, rc: number, flags: number, buffer: unknown): void {
    if (call.op === Op.xClose) this.files.delete(call.file);
    decoded.aux = decoded.aux2 = 0;
    if (call.headed && rc === 0)
      try {
        decodeHeader(call.headed, this.api.bytes(buffer), this.api.at(buffer), call.offset, call.length);
      } catch (error) {
        this.recorder.fault('a header', error);
      }
    this.calls.end(call, rc, flags, decoded.aux, decoded.aux2);
  }

  private vfsName(): string {
    return typeof this.vfs.name === 'string' ? this.vfs.name : '';
  }

  /** Asyncify's handleAsync (1.x) begins a promise and unwinds, or hands over what it brought: only the first is a suspension. */
  private suspensions = 0;
  private watchHandleAsync(): void {
    let inner = this.vfs.handleAsync as ((f: () => unknown) => unknown) | undefined;
    if (typeof inner !== 'function') return;
    const watched = (f: () => unknown): unknown => {
      let ran = false;
      const answer = inner!(() => {
        ran = true;
        return f();
      });
      if (ran && !(answer instanceof Promise)) this.suspensions++;
      return answer;
    };
    Object.defineProperty(this.vfs, 'handleAsync', {
      configurable: true,
      enumerable: false,
      get: () => watched,
      set: (f: typeof inner) => (inner = f), // registering sets Asyncify's own
    });
  }
}
