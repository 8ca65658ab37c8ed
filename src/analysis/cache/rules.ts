/**
 * Findings about reading pages.
 *
 *   F11   page 7 ... page 7 ... page 7: read repeatedly, because SQLite's page cache dropped it
 *   F21   page 1, 2, 3, ... 140: a scan, a call for each small page
 *   F22   many pages of schema before the first statement can run
 */
import { savingOf } from './goal-saving.ts';
import { advisesCache, missRatios, type MissRatio } from './miss-ratio.ts';
import { getOrMake, grouped } from '../core/maps.ts';
import { Op } from '../../event/event.ts';
import { Evidence, type FindingContext } from '../rules/context.ts';
import { Saving } from '../rules/saving.ts';
import type { Found, Rule } from '../rules/types.ts';
import { countOf, formatCount, formatDuration } from '../../text/numbers.ts';

const LARGE_PAGE = 32768;
const LONG_SCANS = 100;
const SCHEMA_PAGES = 8;

export const cacheTooSmall: Rule = {
  id: 'F11',
  title: 'Page cache too small',
  needs: { missRatios },
  run(ctx) {
    const found = ctx.get(missRatios).filter((ratio) => advisesCache(ratio));
    return found.map((r): Found => {
      const { goal, reads, again } = r;
      const setCache = `PRAGMA cache_size=${goal.kib === null ? goal.pages : -goal.kib}`;
      const saving = savingOf(ctx, r);
      return {
        title: `${formatCount(again.count)} of ${countOf(reads, 'read')} of ${r.path}${whoseOf(r, found, ctx)} read a page again that the page cache had dropped. Only ${countOf(r.distinctPages, 'distinct page was', 'distinct pages were')} used`,
        evidence: again.result(ctx),
        ...saving.result(),
        ...confidenceOf(r, ctx, saving.isEstimate),
        sql: `${setCache};`,
        advice: `Set ${setCache} (${goal.kib === null ? '' : `${formatCount(goal.kib)} KiB, `}${formatCount(goal.pages)} pages): at least ${formatCount(goal.avoided)} of these reads would be hits.${r.kind === 'exact' ? '' : " A smaller cache may be enough, because vfscope can't see which page each cache hit read."}`,
        link: 'https://www.sqlite.org/pragma.html#pragma_cache_size',
        tryInLab: 'cache-thrash',
      };
    });
  },
};

/** Describes whose cache it is, if several on one file are too small. */
function whoseOf(
  { path, thread, connection }: MissRatio,
  all: readonly MissRatio[],
  { titles }: FindingContext,
): string {
  const others = all.filter((r) => r.path === path);
  if (others.length === 1) return '';
  const alone = others.filter((r) => r.thread === thread).length === 1;
  return ` by ${alone || !connection ? '' : `connection ${connection} of `}${titles[thread]}`;
}

/** How certain it is that the advised cache is large enough. */
function confidenceOf(
  { thread, connection, measured, assumed }: MissRatio,
  { store }: FindingContext,
  isEstimate: boolean,
): Pick<Found, 'confidence' | 'reason'> {
  const { lost } = store.threads[thread]!;
  const read = `${connection ? 'one connection' : 'the same thread'} read the same pages three times or more, and no call wrote them in between`;
  const doubts = [
    connection ? '' : "the recording can't distinguish connections here",
    measured ? '' : 'the hits of the cache are not counted, so a smaller size may be enough',
    assumed ? "its cache is assumed to have SQLite's default size, which no call shows" : '',
    lost > 0 ? 'calls are missing from the recording' : '',
    isEstimate ? 'these reads took less than others, and what is left of them may take more' : '',
  ].filter(Boolean);
  return {
    confidence: assumed ? 'possible' : doubts.length ? 'likely' : 'certain',
    reason: [read, ...doubts].join('; '),
  };
}

export const pageTooSmall: Rule = {
  id: 'F21',
  title: 'Page size too small for scans',
  needs: { missRatios },
  run(ctx) {
    return [...grouped(ctx.get(missRatios), ({ path }) => path)]
      .map(([path, all]) => ({ path, ...scansOf(all) }))
      .filter((r) => r.pageBytes > 0 && r.pageBytes <= 4096)
      .filter((r) => r.reads.count >= LONG_SCANS && 2 * r.reads.count >= r.cold)
      .map((r): Found => {
        const inRuns = r.reads.count;
        const avoided = inRuns - Math.ceil((inRuns * r.pageBytes) / LARGE_PAGE);
        const tiny = r.pageBytes < 4096;
        return {
          title: `Scans of ${r.path} took ${countOf(inRuns, 'read')} of ${formatCount(r.pageBytes)} bytes each, in ${countOf(r.runs, 'run')} of up to ${countOf(r.longest, 'page')}; pages of 32 KiB would take ${formatCount(inRuns - avoided)}`,
          evidence: r.reads.result(ctx),
          ...new Saving(ctx).avoid(avoided, Op.xRead, 'reads', 'main-db', r.reads.cost).result(),
          confidence: tiny ? 'likely' : 'possible',
          reason: `${tiny ? 'the page is below the default of 4,096 bytes' : 'pages of 4,096 bytes are right for reads of single rows'}; the saving holds where a read costs by call rather than by byte`,
          advice:
            'Try a larger page_size (before the first table, or with VACUUM where the VFS allows it) if scans matter more than reads of single rows.',
          link: 'https://www.sqlite.org/pragma.html#pragma_page_size',
          tryInLab: 'page-size',
        };
      });
  },
};

/** The scans of all connections on one file together. */
function scansOf(all: readonly MissRatio[]) {
  const sum = { pageBytes: all[0]!.pageSize.bytes ?? 0, cold: 0, runs: 0, longest: 0 };
  const reads = new Evidence();
  for (const { cold, scans } of all) {
    sum.cold += cold;
    sum.runs += scans.runs;
    sum.longest = Math.max(sum.longest, scans.longest);
    reads.join(scans.reads);
  }
  return { ...sum, reads };
}

export const coldStart: Rule = {
  id: 'F22',
  title: 'Cold start reads a large schema',
  run(ctx) {
    return ctx.store.threads.flatMap((thread): Found[] => {
      const { events } = thread;
      /** By connection: row of the first prepare that read pages, and what it read. */
      const first = new Map<number, { evidence: Evidence; pages: Set<number>; path: string }>();
      for (const prepare of ctx.rows(thread, Op.sqlPrepare)) {
        const connection = events.context[prepare]!;
        if (first.has(connection)) continue;
        // its calls follow right after it
        for (
          let row = prepare + 1;
          row < events.count && events.seq[row]! < events.endSeq[prepare]!;
          row++
        ) {
          if (
            events.op[row] !== Op.xRead ||
            events.length[row]! < 512 ||
            events.parent[row] !== events.seq[prepare]
          )
            continue;
          const file = ctx.file(thread, events.object[row]!);
          if (file?.kind !== 'main-db') continue;
          const none = { evidence: new Evidence(), pages: new Set<number>(), path: file.path };
          const entry = getOrMake(first, connection, () => none);
          entry.evidence.add(thread, row);
          entry.pages.add(events.offset[row]!);
        }
      }
      return [...first.values()]
        .filter((e) => e.pages.size >= SCHEMA_PAGES)
        .map(({ evidence, pages, path }) => ({
          title: `The first statement on ${path} waited for ${countOf(pages.size, 'page')} of schema, read one by one in ${formatDuration(evidence.us)}`,
          evidence: evidence.result(ctx),
          ...new Saving(ctx)
            .avoid(pages.size - 1, Op.xRead, 'reads of schema pages', 'main-db', evidence.cost)
            .result(),
          confidence: 'certain',
          reason:
            'the reads are under the first sqlite3_prepare of the connection; a small schema fits on page 1',
          advice:
            'Keep fewer tables and indexes, or open the database in the background before it is needed.',
          link: 'https://www.sqlite.org/fileformat2.html#storage_of_the_sql_database_schema',
          tryInLab: 'cold-starts',
        }));
    });
  },
};
