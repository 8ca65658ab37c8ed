// Everything that vfscope makes from an untrusted trace: reports, the anonymized copy, the
// comparison, all exports, the file again.
import { FORMATS } from '../../src/cli/export.ts';
import { privacyReport } from '../../src/analysis/privacy/privacy-report.ts';
import { sanitizeStore } from '../../src/analysis/privacy/sanitize.ts';
import { readTrace } from '../../src/trace/file/read.ts';
import { saveTrace } from '../../src/trace/file/write.ts';
import type { TraceStore } from '../../src/trace/store.ts';
import { runAll, type Analysis } from './analyses.ts';
import { diffOf, reportOf } from '../traces/analyses.ts';

/** A file that the reader accepts completely is the same after writing and reading it again. */
async function again(store: TraceStore): Promise<void> {
  const { store: read, warnings } = await readTrace(await saveTrace(store));
  if (warnings.length)
    throw new Error(`saved and read again it deserves a warning: ${warnings[0]}`);
  if (read.eventCount !== store.eventCount)
    throw new Error(`${store.eventCount} events are ${read.eventCount} when saved and read again`);
}

/**
 * @param sqlite also as a database, which takes longer @throws Error that names what failed, and
 * the seed
 */
export async function runEverything(
  store: TraceStore,
  other: TraceStore,
  { seed, analyses, sqlite }: { seed: number; analyses: readonly Analysis[]; sqlite: boolean },
): Promise<void> {
  runAll(analyses, store, seed);
  const anonymized = sanitizeStore(store);
  const jobs: Record<string, () => unknown> = {
    report: () => reportOf(store),
    privacy: () => privacyReport(store),
    diff: () => [diffOf(other, store), diffOf(store, other)],
    'report of the anonymized copy': () => reportOf(anonymized),
    'save and read': () => again(store),
  };
  for (const [name, run] of Object.entries(jobs)) {
    try {
      await run();
    } catch (e) {
      throw new Error(`${name} of seed ${seed}: ${e instanceof Error ? e.message : String(e)}`, {
        cause: e,
      });
    }
  }
  for (const [format, write] of Object.entries(FORMATS)) {
    if (format === 'sqlite' && !sqlite) continue;
    try {
      for await (const _ of write({
        store: seed % 2 ? store : anonymized,
        title: 'fuzz',
        sanitized: seed % 2 === 0,
      }));
    } catch (e) {
      throw new Error(
        `export as ${format} of seed ${seed}: ${e instanceof Error ? e.message : String(e)}`,
        { cause: e },
      );
    }
  }
}
