/**
 * The pending calls of a VFS, and the parents of events. Calls of two connections may overlap if
 * they are asynchronous. An event's parent is the call that began last, and a VFS call is never the
 * child of another. A call that answers at once is a number, not an object. A call that waits for
 * its result is an object.
 */
import { Flag } from '../../event/event.ts';
import { NOTHING, Recorder, type Token } from '../../record/recorder.ts';
import type { HeadedFile } from './overlay-headers.ts';

/** A call whose answer comes later. */
export interface HeldCall {
  readonly op: number;
  readonly token: Token;
  /** First argument of the method, which identifies a rewind. */
  readonly file: unknown;
  /** For an xRead on a known file: which headers its bytes may contain. */
  readonly headed: HeadedFile | null;
  readonly offset: number;
  readonly length: number;
  /** Asyncify suspended the call; it is still pending. */
  resumed: boolean;
}

export class OpenCalls {
  /** Calls that wait for their result. */
  private readonly open: number[] = [];
  /** The sql call, if any, that was open before our first call. */
  private base = 0;

  constructor(private readonly recorder: Recorder) {}

  /** Next comes `end`, or `hold` and later `release`, in the same task of the thread. */
  begin(
    op: number,
    object: number,
    offset: number,
    length: number,
    aux: number,
    aux2: number,
  ): Token {
    const { recorder } = this;
    if (this.open.length === 0) this.base = recorder.current;
    else recorder.leave(this.base, 0);
    const token = recorder.beginInside(op, object, offset, length, aux, aux2);
    if (token === NOTHING && this.open.length) this.leave();
    return token;
  }

  /** @param aux, aux2 decoded from the bytes read; 0 and 0 = nothing */
  end(token: Token, rc: number, flags: number, aux: number, aux2: number): void {
    this.recorder.end(token, rc, flags, undefined, aux, aux2);
    this.leave();
  }

  hold(call: HeldCall): HeldCall {
    if (call.token !== NOTHING) this.open.push(Recorder.seqOf(call.token));
    return call;
  }
  /** The end of a call that waited. */
  release(call: HeldCall, rc: number, flags: number, aux: number, aux2: number): void {
    if (call.token === NOTHING) return;
    const { open } = this;
    const seq = Recorder.seqOf(call.token);
    if (open[open.length - 1] === seq) open.pop();
    else {
      const at = open.lastIndexOf(seq);
      if (at >= 0) open.splice(at, 1);
    }
    this.end(call.token, rc, call.resumed ? flags | Flag.async : flags, aux, aux2);
  }

  private leave(): void {
    const { open, recorder } = this;
    recorder.leave(open.length ? open[open.length - 1]! : this.base, 0);
  }
}
