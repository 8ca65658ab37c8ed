/**
 * The calls of a VFS that are under way, and whose children events are. Calls of two connections may overlap where they are
 * asynchronous: what begins belongs to the call that began last, and no VFS call is another's child. A call that answers at once is a
 * number and no object; one that is held until its answer comes is.
 */
import { Flag } from '../../event/event.ts';
import { NOTHING, Recorder, type Token } from '../../record/recorder.ts';
import type { HeadedFile } from './overlay-headers.ts';

/** A call whose answer comes later. */
export interface HeldCall {
  readonly op: number;
  readonly token: Token;
  /** First argument of the method, by which a rewind is known. */
  readonly file: unknown;
  /** Of an xRead on a known file: what its bytes may say. */
  readonly headed: HeadedFile | null;
  readonly offset: number;
  readonly length: number;
  /** The call was suspended by Asyncify and goes on. */
  resumed: boolean;
}

export class OpenCalls {
  /** Those that are held. */
  private readonly open: number[] = [];
  /** The sql call, if any, that was open before the first of ours. */
  private base = 0;

  constructor(private readonly recorder: Recorder) {}

  /** What follows is `end`, or `hold` and later `release`, on this turn of the thread. */
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

  /** @param aux, aux2 what the bytes that were read say; 0 and 0 = nothing */
  end(token: Token, rc: number, flags: number, aux: number, aux2: number): void {
    this.recorder.end(token, rc, flags, undefined, aux, aux2);
    this.leave();
  }

  hold(call: HeldCall): HeldCall {
    if (call.token !== NOTHING) this.open.push(Recorder.seqOf(call.token));
    return call;
  }
  /** The end of a call that was held. */
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
