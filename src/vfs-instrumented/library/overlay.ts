/**
 * Records the calls of a wa-sqlite VFS object that you own, with own properties x* over the
 * instance. They write the same records as the trampolines of interpose/. For app authors and
 * tests; engines/install.ts traces VFSs that you don't own.
 *
 * Synchronous methods stay synchronous, asynchronous ones still return a promise, and Asyncify's
 * second call of a 1.x method is recorded as the rewind of the first.
 */
import { Flag, Op } from '../../event/event.ts';
import { Rc } from '../../sqlite/constants.ts';
import { fileKindOfOpenFlags } from '../../event/definitions.ts';
import { NOTHING, type Recorder, type Token } from '../../record/recorder.ts';
import { FileNames } from '../interpose/file-names.ts';
import { OpenCalls, type HeldCall } from './overlay-calls.ts';
import { decodeHeader, decoded, type HeadedFile } from './overlay-headers.ts';
import { apiOf, type Api } from './overlay-api.ts';
import { METHODS, type How } from './overlay-methods.ts';
import { Suspensions } from './overlay-suspensions.ts';

type Method = (a: unknown, b?: unknown, c?: unknown, d?: unknown, e?: unknown) => unknown;

const OVERLAID = Symbol('vfscope overlay');

const isThenable = (v: unknown): v is PromiseLike<unknown> =>
  typeof v === 'object' && v !== null && typeof (v as { then?: unknown }).then === 'function';

interface OpenFile extends HeadedFile {
  readonly object: number;
}

/** Where records go: a recorder, or a recording from `startRecording`. */
export type RecordTarget = Recorder | { readonly recorder: Recorder };

/**
 * Record the calls that SQLite makes to this VFS from now on. Works before and after
 * `vfs_register`; before is better, because it also covers the first calls. Works with wa-sqlite
 * 1.x and 2.x and its forks, in sync, Asyncify, and JSPI builds.
 * @returns the VFS itself
 * @throws TypeError where it has no xRead and xWrite, or is instrumented already
 */
export function instrument<T extends object>(vfs: T, target: RecordTarget): T {
  const object = vfs as T & Record<string | symbol, unknown>;
  if (object[OVERLAID]) throw new TypeError('this VFS is instrumented already');
  for (const name of ['xOpen', 'xRead', 'xWrite'])
    if (typeof object[name] !== 'function')
      throw new TypeError(`not a wa-sqlite VFS: it has no ${name}`);
  Object.defineProperty(object, OVERLAID, { value: true, configurable: true });
  new Overlay(object, 'recorder' in target ? target.recorder : target).install();
  return vfs;
}

class Overlay {
  private readonly names: FileNames;
  private readonly files = new Map<unknown, OpenFile>();
  private readonly calls: OpenCalls;
  private readonly api: Api;
  private readonly suspensions = new Suspensions();
  /** For 1.x with Asyncify: the unwound call, which will be called again. */
  private unwound: HeldCall | null = null;
  private engine = 0;
  /** A method of the VFS is running. The methods that it calls on itself aren't recorded. */
  private inside = false;
  /**
   * For the running call, if it is an xRead on a known file: which headers its bytes may contain.
   */
  private headed: HeadedFile | null = null;
  /** The last file, because calls come in runs on one file. */
  private lastKey: unknown = null;
  private lastFile: OpenFile | undefined;
  private offset = NaN;
  private length = 0;

  constructor(
    private readonly vfs: Record<string, unknown>,
    private readonly recorder: Recorder,
  ) {
    this.calls = new OpenCalls(recorder);
    this.api = apiOf(vfs);
    this.names = new FileNames(
      recorder,
      () => (this.engine ||= recorder.define({ kind: 'engine', ...this.api.engine() })),
    );
  }

  install(): void {
    const { api } = this;
    if (api.version === 1) this.suspensions.watch(this.vfs);
    for (const [name, op, how, aux] of METHODS) {
      const original = this.vfs[name];
      if (typeof original !== 'function') continue;
      // not enumerable, so a VFS that enumerates its own properties doesn't find them
      const bound = (original as Method).bind(this.vfs);
      const value =
        how === 'transfer' ? this.wrapTransfer(bound, op) : this.wrap(bound, op, how, aux);
      Object.defineProperty(this.vfs, name, {
        value,
        configurable: true,
        writable: true,
        enumerable: false,
      });
    }
  }

  /** Hot path: a synchronous call allocates nothing except its record. */
  private wrap(original: Method, op: number, how: How, auxArgument: number): Method {
    const { recorder } = this;
    const always = op === Op.xClose || op === Op.xOpen;
    return (a, b, c, d, e) => {
      if (this.inside) return original(a, b, c, d, e);
      if (this.unwound) return this.again(original, this.unwound, op, a, b, c, d, e);
      this.headed = null;
      const token =
        always || recorder.enabled ? this.begin(op, how, auxArgument, a, b, c, d, e) : NOTHING;
      const suspensions = this.suspensions.count;
      let answer: unknown;
      this.inside = true;
      try {
        answer = original(a, b, c, d, e);
      } catch (error) {
        this.inside = false;
        this.finish(op, token, a, Rc.error, Flag.threw, b);
        throw error;
      }
      this.inside = false;
      return this.answered(op, token, a, b, answer, this.suspensions.count !== suspensions);
    };
  }

  /**
   * xRead and xWrite, the most frequent calls. The last used file and a synchronous result take the
   * fast path. A separate function, so that the engine compiles it for these two only.
   */
  private wrapTransfer(original: Method, op: number): Method {
    const { recorder } = this;
    const general = this.wrap(original, op, 'transfer', -1);
    return (a, b, c, d, e) => {
      const file = this.lastFile;
      if (this.inside || this.unwound || a !== this.lastKey || !file || !recorder.enabled)
        return general(a, b, c, d, e);
      const token = this.beginTransfer(op, file, b, c, d, e);
      const suspensions = this.suspensions.count;
      let answer: unknown;
      this.inside = true;
      try {
        answer = original(a, b, c, d, e);
      } catch (error) {
        this.inside = false;
        this.finish(op, token, a, Rc.error, Flag.threw, b);
        throw error;
      }
      this.inside = false;
      if (typeof answer !== 'number' || this.suspensions.count !== suspensions)
        return this.answered(op, token, a, b, answer, this.suspensions.count !== suspensions);
      this.finish(op, token, a, answer, 0, b);
      return answer;
    };
  }

  private answered(
    op: number,
    token: Token,
    a: unknown,
    b: unknown,
    answer: unknown,
    suspended: boolean,
  ): unknown {
    if (suspended) {
      this.unwound = this.held(op, token, a); // its result comes with the rewind
      return answer;
    }
    if (typeof answer !== 'number' && isThenable(answer))
      return this.whenSettled(this.held(op, token, a), answer, b);
    this.finish(op, token, a, Number(answer), 0, b);
    return answer;
  }

  /** Asyncify calls the suspended method again: the rewind of the first call. */
  private again(
    original: Method,
    call: HeldCall,
    op: number,
    a: unknown,
    b: unknown,
    c: unknown,
    d: unknown,
    e: unknown,
  ): unknown {
    // the method calls itself
    if (call.op !== op || call.file !== a) return original(a, b, c, d, e);
    this.unwound = null;
    call.resumed = true;
    const suspensions = this.suspensions.count;
    let answer: unknown;
    this.inside = true;
    try {
      answer = original(a, b, c, d, e);
    } catch (error) {
      this.inside = false;
      this.settle(call, Rc.error, Flag.threw, b);
      throw error;
    }
    this.inside = false;
    if (this.suspensions.count !== suspensions) {
      this.unwound = call;
      return answer;
    }
    if (isThenable(answer)) return this.whenSettled(call, answer, b);
    this.settle(call, Number(answer), 0, b);
    return answer;
  }

  private held(op: number, token: Token, file: unknown): HeldCall {
    const { headed, offset, length } = this;
    // suspended while nothing was recorded: its rewind must not count as a call
    return this.calls.hold({ op, token, file, headed, offset, length, resumed: false });
  }

  private whenSettled(
    call: HeldCall,
    answer: PromiseLike<unknown>,
    buffer: unknown,
  ): PromiseLike<unknown> {
    if (call.token === NOTHING && call.op !== Op.xClose) return answer;
    return answer.then(
      (rc) => {
        this.settle(call, Number(rc), Flag.async, buffer);
        return rc;
      },
      (error: unknown) => {
        this.settle(call, Rc.error, Flag.async | Flag.threw, buffer);
        throw error;
      },
    );
  }

  private beginTransfer(
    op: number,
    file: OpenFile,
    b: unknown,
    c: unknown,
    d: unknown,
    e: unknown,
  ): Token {
    const { api, calls } = this;
    this.headed = null;
    try {
      const offset = api.offset(c, d, e);
      const length = api.length(b, c);
      if (op === Op.xRead) {
        this.headed = file;
        this.offset = offset;
        this.length = length;
        return calls.begin(op, file.object, offset, length, 0, 0);
      }
      decodeHeader(file, api.bytes(b), api.at(b), offset, length);
      return calls.begin(op, file.object, offset, length, decoded.aux, decoded.aux2);
    } catch (error) {
      this.recorder.fault('a VFS call', error);
      return NOTHING;
    }
  }

  private begin(
    op: number,
    how: How,
    auxArgument: number,
    a: unknown,
    b: unknown,
    c: unknown,
    d: unknown,
    e: unknown,
  ): Token {
    const { api, calls } = this;
    try {
      if (how === 'transfer') {
        const file = this.fileOf(a);
        if (file) return this.beginTransfer(op, file, b, c, d, e);
        return calls.begin(op, this.names.stranger(), api.offset(c, d, e), api.length(b, c), 0, 0);
      }
      if (how === 'open') {
        const flags = Number(api.version === 1 ? c : d);
        const object = this.names.opened(api.openName(a, b), this.vfsName(), flags);
        this.lastKey = null;
        this.files.set(api.version === 1 ? b : c, {
          object,
          kind: fileKindOfOpenFlags(flags),
          walPageBytes: 0,
        });
        return calls.begin(op, object, NaN, 0, flags, 0);
      }
      if (how === 'name') {
        const flags = Number(api.version === 1 ? b : c);
        return calls.begin(op, this.names.named(api.name(a, b), this.vfsName()), NaN, 0, flags, 0);
      }
      const object = this.fileOf(a)?.object ?? this.names.stranger();
      const aux = auxArgument < 0 ? 0 : Number(auxArgument === 1 ? b : d);
      return calls.begin(op, object, op === Op.xTruncate ? api.size(b, c) : NaN, 0, aux, 0);
    } catch (error) {
      this.recorder.fault('a VFS call', error);
      return NOTHING;
    }
  }

  private finish(
    op: number,
    token: Token,
    file: unknown,
    rc: number,
    flags: number,
    buffer: unknown,
  ): void {
    if (op === Op.xClose) this.forget(file);
    if (token === NOTHING) return;
    const { headed } = this;
    if (headed === null || rc !== 0) this.calls.end(token, rc, flags, 0, 0);
    else {
      this.decode(headed, buffer, this.offset, this.length);
      this.calls.end(token, rc, flags, decoded.aux, decoded.aux2);
    }
  }

  private settle(call: HeldCall, rc: number, flags: number, buffer: unknown): void {
    if (call.op === Op.xClose) this.forget(call.file);
    decoded.aux = decoded.aux2 = 0;
    if (call.headed && rc === 0) this.decode(call.headed, buffer, call.offset, call.length);
    this.calls.release(call, rc, flags, decoded.aux, decoded.aux2);
  }

  private fileOf(key: unknown): OpenFile | undefined {
    if (key !== this.lastKey || key === null) {
      this.lastFile = this.files.get(key);
      this.lastKey = key;
    }
    return this.lastFile;
  }
  private forget(key: unknown): void {
    this.files.delete(key);
    this.lastKey = null;
  }

  private decode(file: HeadedFile, buffer: unknown, offset: number, length: number): void {
    try {
      decodeHeader(file, this.api.bytes(buffer), this.api.at(buffer), offset, length);
    } catch (error) {
      decoded.aux = decoded.aux2 = 0;
      this.recorder.fault('a header', error);
    }
  }

  private vfsName(): string {
    return typeof this.vfs.name === 'string' ? this.vfs.name : '';
  }
}
