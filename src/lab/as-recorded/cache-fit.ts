/**
 * Finds the page cache size of a recording that folded the value of PRAGMA cache_size: the size
 * with the closest number of page reads.
 */
import type { Copy } from '../advisor/copy.ts';
import type { Script } from './script.ts';

/** Pages. */
const SIZES = [10, 20, 50, 100, 200, 500, 1000, 2000] as const;

export interface CacheFit {
  /** Pages. */
  readonly cacheSize: number;
  /** Pages that the script's steps read with this size. */
  readonly reads: number;
}

/**
 * Runs the script once with each size, until one reads fewer pages than were recorded.
 * @param open returns a fresh copy of the script's database
 * @param recorded pages
 * @throws SQLite's errors
 */
export async function cacheFit(
  open: () => Promise<Copy>,
  { setup, steps }: Pick<Script, 'setup' | 'steps'>,
  recorded: number,
): Promise<CacheFit> {
  let best: CacheFit | null = null;
  for (const cacheSize of SIZES) {
    const copy = await open();
    try {
      await copy.exec(`PRAGMA cache_size=${cacheSize}`);
      await copy.exec(setup);
      const before = copy.misses();
      await copy.exec(steps);
      const reads = copy.misses() - before;
      const isNearer = !best || Math.abs(reads - recorded) < Math.abs(best.reads - recorded);
      if (isNearer) best = { cacheSize, reads };
      if (reads <= recorded) break;
    } finally {
      await copy.close();
    }
  }
  return best!;
}
