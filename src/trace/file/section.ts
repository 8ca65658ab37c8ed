/**
 * The frame around every part of a file: tag, length, CRC, payload; and the summary before a
 * chunk's columns.
 */
import { IDB_WAIT, LANE_KINDS, type Lane, type LaneKind } from '../lanes/lanes.ts';
import { frameOf } from '../lanes/frame.ts';
import { ACTIVITIES } from '../../event/operations.ts';
import { ByteReader, ByteWriter, MalformedError } from './bytes.ts';
import { crc32 } from './codec.ts';
import {
  END_MAGIC,
  FILE_HEADER_BYTES,
  FORMAT_VERSION,
  MAGIC,
  SECTION_HEADER_BYTES,
  TRAILER_BYTES,
  type FileHeader,
} from './format.ts';

const utf8 = new TextEncoder();

export function headerBytes(header: FileHeader): Uint8Array<ArrayBuffer> {
  const json = utf8.encode(JSON.stringify(header));
  const out = new ByteWriter(FILE_HEADER_BYTES + json.length);
  out.append(MAGIC);
  out.u32(FORMAT_VERSION);
  out.u32(json.length);
  out.u32(crc32(json));
  out.append(json);
  return out.view8();
}

/** A whole section. @param tag four ASCII letters */
export function sectionBytes(tag: string, payload: Uint8Array): Uint8Array<ArrayBuffer> {
  const out = new ByteWriter(SECTION_HEADER_BYTES + payload.length);
  const name = utf8.encode(tag);
  out.append(name);
  out.u32(payload.length);
  out.u32(crc32(payload, crc32(name)));
  out.append(payload);
  return out.view8();
}

/** The end of a finished file. @param indexAt where its index begins */
export function trailerBytes(indexAt: number): Uint8Array<ArrayBuffer> {
  const out = new ByteWriter(TRAILER_BYTES);
  out.u32(indexAt % 2 ** 32);
  out.u32(Math.floor(indexAt / 2 ** 32));
  out.append(END_MAGIC);
  return out.view8();
}

export const jsonBytes = (value: unknown): Uint8Array<ArrayBuffer> =>
  utf8.encode(JSON.stringify(value));

export interface ChunkHead {
  thread: number;
  count: number;
  /** Begin of the first event and the last end seen, microseconds. */
  fromUs: number;
  toUs: number;
  lanes: ChunkLane[];
}
/** How busy a lane was in equal parts of the chunk's time, like LaneFrame's columns. */
export interface ChunkLane {
  kind: LaneKind;
  busy: Uint8Array;
  activity: Uint8Array;
  /**
   * For the SQL lane: the kind of statement that took most of each part, by place in
   * STATEMENT_KINDS; absent in files of earlier writers.
   */
  statements?: Uint8Array;
}
/**
 * In the file, kinds of statements are a separate lane after the others: readers skip unknown
 * lanes.
 */
const STATEMENTS_LANE = LANE_KINDS.length;

const BINS = 128;

/** Summary of rows [from, to) of a thread whose lanes are up to date. */
export function chunkHead(
  lanes: readonly Lane[],
  thread: number,
  range: { count: number; fromUs: number; toUs: number },
): ChunkHead {
  const bins = Math.min(BINS, Math.max(8, range.count >>> 3));
  const to = Math.max(range.toUs, range.fromUs + 0.001);
  return {
    thread,
    ...range,
    lanes: lanes.map((lane) => {
      const { busy, activity } = frameOf(lane, range.fromUs, to, bins, false);
      return {
        kind: lane.kind,
        busy,
        activity: filed(lane.kind, busy, activity),
        ...(lane.kind === 'sql' && { statements: activity }),
      };
    }),
  };
}

/**
 * A file stores activities: for SQL that it computes, for an open IndexedDB transaction that it
 * waits.
 */
const CPU = ACTIVITIES.indexOf('cpu');
const SYNC = ACTIVITIES.indexOf('sync');
const filed = (kind: LaneKind, busy: Uint8Array, activity: Uint8Array): Uint8Array =>
  kind === 'sql'
    ? busy.map((share) => (share ? CPU : 0))
    : kind === 'web'
      ? activity.map((code) => (code === IDB_WAIT ? SYNC : code))
      : activity;

export function chunkBytes(head: ChunkHead, columns: Uint8Array): Uint8Array<ArrayBuffer> {
  const statements = head.lanes.filter((lane) => lane.statements);
  const lanes = head.lanes.length + statements.length;
  const out = new ByteWriter(64 + lanes * (2 * BINS + 1) + columns.length);
  out.u32(head.thread);
  out.u32(head.count);
  out.f64(head.fromUs);
  out.f64(head.toUs);
  out.u8(lanes);
  out.u8(head.lanes[0]?.busy.length ?? 0);
  for (const lane of head.lanes) {
    out.u8(LANE_KINDS.indexOf(lane.kind));
    out.append(lane.busy);
    out.append(lane.activity);
  }
  for (const lane of statements) {
    out.u8(STATEMENTS_LANE);
    out.append(lane.busy);
    out.append(lane.statements!);
  }
  out.append(columns);
  return out.view8();
}

/** @returns the summary and the gzip of the columns @throws MalformedError */
export function readChunkHead(payload: Uint8Array): { head: ChunkHead; columns: Uint8Array } {
  const r = new ByteReader(payload);
  const [thread, count, fromUs, toUs, laneCount, bins] = [
    r.u32(),
    r.u32(),
    r.f64(),
    r.f64(),
    r.u8(),
    r.u8(),
  ];
  if (!Number.isFinite(fromUs) || !(toUs >= fromUs))
    throw new MalformedError(`a chunk spans ${fromUs}..${toUs} us`);
  const lanes: ChunkLane[] = [];
  for (let i = 0; i < laneCount; i++) {
    const code = r.u8();
    const kind = LANE_KINDS[code];
    const [busy, activity] = [r.take(bins), r.take(bins)];
    if (kind) lanes.push({ kind, busy, activity });
    else if (code === STATEMENTS_LANE) {
      const sql = lanes.find((lane) => lane.kind === 'sql');
      if (sql) sql.statements = activity;
    } // else a lane of a later writer
  }
  return { head: { thread, count, fromUs, toUs, lanes }, columns: r.take(r.left) };
}
