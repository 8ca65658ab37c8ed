// Mutated trace files: bytes changed, runs overwritten, ranges removed or duplicated, and sometimes
// the checksums corrected.
import { TraceFileError } from '../../src/trace/file/format.ts';
import { readTrace } from '../../src/trace/file/read.ts';
import { sectionBytes } from '../../src/trace/file/section.ts';
import type { TraceStore } from '../../src/trace/store.ts';
import { summaryOf } from '../../src/analysis/report/summary.ts';
import { randomOf } from './random.ts';

export type Outcome = 'whole' | 'partial' | 'refused';

export function mutated(
  original: Uint8Array,
  seed: number,
): { bytes: Uint8Array<ArrayBuffer>; mended: boolean } {
  const r = randomOf(seed);
  let bytes = new Uint8Array(original);
  for (let k = r.below(4); k >= 0; k--) {
    const at = r.below(bytes.length);
    switch (r.below(5)) {
      case 0:
        bytes[at] = r.below(256);
        break;
      case 1:
        bytes.fill(r.of([0, 255, 127]), at, at + 1 + r.below(8));
        break;
      case 2:
        bytes = new Uint8Array([...bytes.subarray(0, at), ...bytes.subarray(at + r.below(30))]);
        break;
      case 3:
        bytes = new Uint8Array([
          ...bytes.subarray(0, at),
          ...bytes.subarray(Math.max(0, at - r.below(200))),
        ]);
        break;
      default:
        if (r.chance(0.2)) bytes = bytes.slice(0, at);
        else bytes[at]! ^= 1 << r.below(8);
    }
    if (!bytes.length) return { bytes, mended: false };
  }
  const mended = r.chance(0.5);
  if (mended) mendChecksums(bytes);
  return { bytes, mended };
}

/** Correct the checksums, so that the damage reaches the data behind them. */
function mendChecksums(bytes: Uint8Array): void {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (
    let at = bytes.length > 20 ? 20 + view.getUint32(12, true) : bytes.length;
    at + 12 <= bytes.length;
  ) {
    const length = view.getUint32(at + 4, true);
    if (at + 12 + length > bytes.length) return;
    const tag = String.fromCharCode(...bytes.subarray(at, at + 4));
    view.setUint32(
      at + 8,
      new DataView(sectionBytes(tag, bytes.subarray(at + 12, at + 12 + length)).buffer).getUint32(
        8,
        true,
      ),
      true,
    );
    at += 12 + length;
  }
}

/** What a reader returns, for comparison: definitions, columns, counters. */
export function contentOf(store: TraceStore): string {
  return JSON.stringify(
    store.threads.map((t) => [
      t.info,
      t.said,
      t.dropped,
      t.ended,
      Array.from({ length: t.events.count }, (_, i) => Object.values(t.events.row(i))),
    ]),
  );
}

/**
 * Read it like a user's file.
 * @param whole content of the file before it was changed: a read without a warning must equal it,
 * unless checksums were corrected
 * @throws Error unless the result is a complete trace, a partial one that reports it, or a named
 * rejection
 */
export async function readMutated(
  file: { bytes: Uint8Array; mended: boolean },
  whole: string,
): Promise<Outcome> {
  try {
    const { store, warnings } = await readTrace(file.bytes);
    for (const { events } of store.threads)
      for (let i = 1; i < events.count; i++)
        if (events.seq[i]! <= events.seq[i - 1]! || events.t0[i]! < events.t0[i - 1]!)
          throw new Error(`row ${i} is out of order`);
    summaryOf(store);
    if (warnings.length) return 'partial';
    if (!file.mended && contentOf(store) !== whole)
      throw new Error('damage that no checksum saw and no warning tells');
    return 'whole';
  } catch (e) {
    if (!(e instanceof TraceFileError)) throw e;
    if (e.message.length < 20)
      throw new Error(`a refusal that says too little: "${e.message}"`, { cause: e });
    return 'refused';
  }
}
