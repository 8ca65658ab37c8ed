// Files that the viewer writes: exports and saved traces, whole and sanitized.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { beforeAll, describe, expect, it } from 'vitest';
import { readTrace } from '../../src/trace/file/read.ts';
import { Exports } from '../../src/viewer/session/exports.ts';
import { EXPORT_FORMATS, type ExportFormat } from '../../src/protocol/export-formats.ts';
import { useWasm } from '../../src/viewer/session/queries/wasm-source.ts';
import { newStore } from '../traces/builder.ts';
import { autocommits } from './viewer-context.ts';

describe('exports', () => {
  const options = { sanitize: false, title: 'a trace', origin: 'https://app.example' };
  const { resolve } = createRequire(import.meta.url);
  beforeAll(() => useWasm(readFileSync(resolve('wa-sqlite/dist/wa-sqlite.wasm'))));
  it.each(Object.keys(EXPORT_FORMATS) as ExportFormat[])(
    "%s is written, sanitized without the app's words",
    async (format) => {
      const exports = new Exports();
      const store = autocommits(4);
      const plain = await (
        await exports.run(store, { format, ...options }, () => {})
      ).arrayBuffer();
      const clean = await (
        await exports.run(store, { format, ...options, sanitize: true }, () => {})
      ).arrayBuffer();
      expect(plain.byteLength).toBeGreaterThan(200);
      expect(Buffer.from(clean).includes('/app.db')).toBe(false);
      // packed formats hide words from a plain search
      if (format !== 'vfst' && format !== 'parquet')
        expect(Buffer.from(plain).includes('app.db')).toBe(true);
      expect(exports.done).toBeNull();
    },
  );
  it('reject an unknown format, and end when another export begins', async () => {
    const exports = new Exports();
    await expect(
      exports.run(newStore(), { ...options, format: 'toString' as ExportFormat }, () => {}),
    ).rejects.toThrow('no export format');
    const long = exports.run(autocommits(30_000), { ...options, format: 'chrome' }, () => {});
    const rejected = expect(long).rejects.toMatchObject({ name: 'AbortError' });
    await exports.run(autocommits(1), { ...options, format: 'csv' }, () => {});
    await rejected;
    const database = exports.run(autocommits(4000), { ...options, format: 'sqlite' }, () => {});
    const ended = expect(database).rejects.toMatchObject({ name: 'AbortError' });
    await exports.run(autocommits(1), { ...options, format: 'csv' }, () => {});
    await ended;
  });
});

describe('a saved file', () => {
  const options = {
    format: 'vfst',
    sanitize: false,
    title: 'a trace',
    origin: 'https://app.example',
  } as const;
  it('has the trace and its origin, and reports its progress', async () => {
    const store = autocommits(4);
    const blob = await new Exports().run(store, options, () => {});
    expect(blob.type).toBe('application/x-vfscope-trace');
    const { store: read, header } = await readTrace(blob);
    expect([read.eventCount, header.origin]).toEqual([store.eventCount, 'https://app.example']);
    expect(
      (await readTrace(await new Exports().run(store, { ...options, sanitize: true }, () => {})))
        .header.origin,
    ).toBe('');
  });
  it('can be canceled before it is complete', async () => {
    const exports = new Exports();
    const saved = exports.run(autocommits(5_000), options, () => {});
    exports.cancel();
    await expect(saved).rejects.toMatchObject({ name: 'AbortError' });
    expect(exports.done).toBeNull();
  });
});
