/**
 * The calls of a VFS that are under way, and whose children events are. Calls of two connections may overlap where they are
 * asynchronous: what begins belongs to the call that began last, and no VFS call is another's child.
 */
import { Flag } from '../trace/event.ts';
import { NOTHING, Recorder, type Token } from '../trace/recorder.ts';
import type { HeadedFile } from './overlay-headers.ts';

export interface Call {
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
  private readonly open: number[] = [];
  /** The sql call, if any, that was open before the first of ours. */
  private base = 0;

  constructor(private readonly recorder: Recorder) {}

  begin(
    op: number,
    object: number,
    offset: number,
    length: number,
    aux: number,
    aux2: number,
    file: unknown,
    headed: HeadedFile | null,
  ): Call {
    const { recorder, open } = this;
    if (open.length === 0) this.base = recorder.current;
    else recorder.leave(this.base, 0);
    const token = recorder.begin(op, object, offset, length, aux, 0, aux2);
    if (token !== NOTHING) {
      open.push(Recorder.seqOf(token));
      recorder.enter(token, 0);
    } else if (open.length) recorder.leave(open[open.length - 1]!, 0);
    return { op, token, file, headed, offset, length, resumed: false };
  }

  /** A call that is suspended while nothing is recorded: its rewind is not to be taken for a call. */
  untraced(op: number, file: unknown): Call {
    return { op, token: NOTHING, file, headed: null, offset: NaN, length: 0, resumed: true };
  }

  /** @param aux, aux2 what the bytes that were read say; 0 and 0 = nothing */
  end(call: Call, rc: number, flags: number, aux: number, aux2: number): void {
    if (call.token === NOTHING) return;
    const { recorder, open } = this;
    recorder.end(call.token, rc, call.resumed ? flags | Flag.async : flags, undefined, aux, aux2);
    const seq = Recorder.seqOf(call.token);
    if (open[open.length - 1] === seq) open.pop();
    else {
      const at = open.lastIndexOf(seq);
      if (at >= 0) open.splice(at, 1);
    }
    recorder.leave(open.length ? open[open.length - 1]! : this.base, 0);
  }
}
