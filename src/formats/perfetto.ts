/**
 * Perfetto's native protobuf trace (perfetto.dev/docs/reference/trace-packet-proto): exact
 * nanoseconds, names interned, an incremental clock. Each track is one packet sequence. Calls that
 * overlap without nesting get separate tracks below their thread.
 */
import { threadTitles } from '../analysis/core/thread-titles.ts';
import {
  detailText,
  lengthOf,
  objectName,
  offsetOf,
  resultText,
  servedStatement,
} from '../trace/describe.ts';
import { OPS, opName } from '../event/operations.ts';
import type { ThreadStore, TraceStore } from '../trace/store.ts';
import { threadEndUs } from '../trace/thread-end.ts';
import { toNs } from './tables.ts';
import { ProtoWriter } from './protobuf.ts';

/** Field numbers, by message. */
const PACKET = {
  clockSnapshot: 6,
  timestamp: 8,
  sequenceId: 10,
  trackEvent: 11,
  interned: 12,
  flags: 13,
  clockId: 58,
  defaults: 59,
  track: 60,
};
const TRACK = { uuid: 1, name: 2, process: 3, thread: 4, parent: 5 };
const EVENT = { categoryIid: 3, annotation: 4, type: 9, nameIid: 10, trackUuid: 11 };
const ANNOTATION = { nameIid: 1, uint: 3, int: 4, double: 5, text: 6 };
const INTERNED = { categories: 1, eventNames: 2, annotationNames: 3 };
const [BEGIN, END, INSTANT] = [1, 2, 3];
/** SEQ_INCREMENTAL_STATE_CLEARED and SEQ_NEEDS_INCREMENTAL_STATE. */
const [CLEARED, NEEDS_STATE] = [1, 2];
/** BUILTIN_CLOCK_BOOTTIME, and the first id that a sequence may use for its own clock. */
const [BOOTTIME, OWN_CLOCK] = [6, 64];
const PID = 1;
const PROCESS_UUID = 1;
const PIECE = 1 << 16;

const ANNOTATIONS = [
  'object',
  'offset',
  'length',
  'detail',
  'result',
  'statement',
  'unfinished',
  'key',
] as const;
type Annotation = (typeof ANNOTATIONS)[number];
const LAYERS = ['sql', 'vfs', 'web', 'host', 'browser', 'cpu', 'unknown'];

/** One track. Its packets carry the time since the packet before. */
class Track {
  /** End and end number of the open calls, innermost last. */
  private readonly open: { endNs: number; endSeq: number }[] = [];
  private lastNs = 0;
  private readonly named = new Set<number>();

  constructor(
    private readonly out: ProtoWriter,
    readonly uuid: number,
  ) {
    out.message(1, () => {
      out.uint(PACKET.sequenceId, uuid);
      out.uint(PACKET.flags, CLEARED | NEEDS_STATE);
      out.message(PACKET.clockSnapshot, () => {
        for (const id of [BOOTTIME, OWN_CLOCK])
          out.message(1, () => {
            out.uint(1, id);
            out.uint(2, 0);
            if (id === OWN_CLOCK) out.uint(3, 1); // is_incremental
          });
        out.uint(2, BOOTTIME);
      });
      out.message(PACKET.defaults, () => {
        out.uint(PACKET.clockId, OWN_CLOCK);
        out.message(PACKET.trackEvent, () => out.uint(EVENT.trackUuid, uuid));
      });
      out.message(PACKET.interned, () => {
        ANNOTATIONS.forEach((name, i) => this.intern(INTERNED.annotationNames, i + 1, name));
        LAYERS.forEach((name, i) => this.intern(INTERNED.categories, i + 1, name));
      });
    });
  }

  private intern(table: number, iid: number, name: string): void {
    this.out.message(table, () => {
      this.out.uint(1, iid);
      this.out.text(2, name);
    });
  }

  private packet(ns: number, event: () => void, opToName = -1): void {
    const { out } = this;
    out.message(1, () => {
      out.uint(PACKET.timestamp, Math.max(0, ns - this.lastNs));
      out.uint(PACKET.sequenceId, this.uuid);
      out.uint(PACKET.flags, NEEDS_STATE);
      if (opToName >= 0 && !this.named.has(opToName)) {
        this.named.add(opToName);
        out.message(PACKET.interned, () =>
          this.intern(INTERNED.eventNames, opToName + 1, opName(opToName)),
        );
      }
      out.message(PACKET.trackEvent, event);
    });
    this.lastNs = Math.max(this.lastNs, ns);
  }

  /**
   * End the calls that are over before one that begins now. If the clock is coarse, the sequence
   * numbers decide.
   */
  close(beforeNs: number, seq: number): void {
    for (
      let top = this.open.at(-1);
      top && (top.endNs < beforeNs || (top.endNs === beforeNs && top.endSeq < seq));
      top = this.open.at(-1)
    ) {
      this.open.pop();
      this.packet(top.endNs, () => this.out.uint(EVENT.type, END));
    }
  }
  /** Whether a call with this end lies within the innermost open one. */
  takes(endNs: number): boolean {
    const top = this.open.at(-1);
    return !top || endNs <= top.endNs;
  }
  begin(
    ns: number,
    end: { endNs: number; endSeq: number },
    op: number,
    annotations: () => void,
  ): void {
    this.open.push(end);
    this.event(ns, BEGIN!, op, annotations);
  }
  instant(ns: number, op: number, annotations: () => void): void {
    this.event(ns, INSTANT!, op, annotations);
  }
  private event(ns: number, type: number, op: number, annotations: () => void): void {
    const write = (): void => {
      this.out.uint(EVENT.categoryIid, LAYERS.indexOf(OPS[op]?.layer ?? 'unknown') + 1);
      annotations();
      this.out.uint(EVENT.type, type);
      this.out.uint(EVENT.nameIid, op + 1);
    };
    this.packet(ns, write, op);
  }
}

/**
 * The whole trace as bytes, in pieces of about 64 KiB. Calls without an end last until the end of
 * the trace, or of their thread, and are marked `unfinished`.
 */
export async function* perfetto(store: TraceStore): AsyncGenerator<Uint8Array> {
  const out = new ProtoWriter();
  const [, endUs] = store.extent();
  const titles = threadTitles(store);
  let uuid = PROCESS_UUID;
  out.message(1, () =>
    out.message(PACKET.track, () => {
      out.uint(TRACK.uuid, PROCESS_UUID);
      out.message(TRACK.process, () => {
        out.uint(1, PID);
        out.text(6, 'vfscope');
      });
    }),
  );
  for (const thread of store.threads) {
    const threadUuid = ++uuid;
    describeTrack(out, threadUuid, PROCESS_UUID, () =>
      out.message(TRACK.thread, () => {
        out.uint(1, PID);
        out.uint(2, thread.index + 2); // a tid equal to the pid would name the process
        out.text(5, titles[thread.index]!);
      }),
    );
    const tracks = [new Track(out, threadUuid)];
    const { events } = thread;
    const horizonNs = toNs(threadEndUs(thread, endUs));
    for (let row = 0; row < events.count; row++) {
      const seq = events.seq[row]!;
      const ns = toNs(events.t0[row]!);
      const unfinished = events.endSeq[row] === 0;
      const end = unfinished
        ? { endNs: Math.max(horizonNs, ns), endSeq: Infinity }
        : { endNs: ns + toNs(events.dur[row]!), endSeq: events.endSeq[row]! };
      const op = events.op[row]!;
      if (OPS[op]?.layer === 'host' && end.endNs === ns) {
        tracks[0]!.close(ns, seq);
        tracks[0]!.instant(ns, op, () => annotate(out, thread, row, unfinished, false));
      } else {
        let lane = 0;
        for (; ; lane++) {
          if (lane === tracks.length) {
            const own = ++uuid;
            describeTrack(out, own, threadUuid, () =>
              out.text(TRACK.name, `concurrent calls ${lane}`),
            );
            tracks.push(new Track(out, own));
          }
          tracks[lane]!.close(ns, seq);
          if (tracks[lane]!.takes(end.endNs)) break;
        }
        tracks[lane]!.begin(ns, end, op, () => annotate(out, thread, row, unfinished, lane > 0));
      }
      if (out.length < PIECE) continue;
      yield out.take();
      await Promise.resolve();
    }
    for (const track of tracks) track.close(Infinity, Infinity);
  }
  yield out.take();
}

function describeTrack(out: ProtoWriter, uuid: number, parent: number, inside: () => void): void {
  out.message(1, () =>
    out.message(PACKET.track, () => {
      out.uint(TRACK.uuid, uuid);
      out.uint(TRACK.parent, parent);
      inside();
    }),
  );
}

/** @param apart the call's track isn't that of its statement, so it carries the text itself */
function annotate(
  out: ProtoWriter,
  thread: ThreadStore,
  row: number,
  unfinished: boolean,
  apart: boolean,
): void {
  const { events } = thread;
  const op = events.op[row]!;
  const add = (name: Annotation, value: () => void): void =>
    out.message(EVENT.annotation, () => {
      out.uint(ANNOTATION.nameIid, ANNOTATIONS.indexOf(name) + 1);
      value();
    });
  const addText = (name: Annotation, text: string): void => {
    if (text) add(name, () => out.text(ANNOTATION.text, text));
  };
  addText('object', objectName(thread, events.object[row]!));
  const offset = offsetOf(events, row);
  if (offset !== null && Number.isSafeInteger(offset))
    add('offset', () => out.int(ANNOTATION.int, offset));
  else if (offset !== null) add('key', () => out.double(ANNOTATION.double, offset));
  const length = lengthOf(events, row);
  if (length) add('length', () => out.uint(ANNOTATION.uint, length));
  addText('detail', detailText(thread, row));
  if (unfinished) add('unfinished', () => out.uint(ANNOTATION.uint, 1));
  else {
    const result = resultText(op, events.result[row]!, events.flags[row]!);
    if (result) addText('result', result);
    else add('result', () => out.int(ANNOTATION.int, events.result[row]!));
  }
  if (apart) addText('statement', servedStatement(thread, row));
}
