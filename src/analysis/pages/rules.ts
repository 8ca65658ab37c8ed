/**
 * Findings about the storage blocks under pages.
 *
 *   F09   xWrite 24 bytes -> get block, put block: read-modify-write         F19   put new version, delete old version
 *   F20   page 4 KiB in blocks of 8 KiB                                      F44   read or write of a few bytes each
 *   F45   xRead 16@24 (has another connection changed the database?) -> get of a whole block
 */
import { getOrMake } from '../core/maps.ts';
import { owners } from '../core/owners.ts';
import { plainPath } from '../../event/file-names.ts';
import { Flag, Op } from '../../event/event.ts';
import { isPageSize, VERSION_AT, VERSION_BYTES } from '../../sqlite/page-size.ts';
import { blockWrites, type BlockWrites } from './block-writes.ts';
import { objectName } from '../../trace/describe.ts';
import { bytesMoved } from '../../trace/bytes-moved.ts';
import { Evidence, type FindingContext } from '../rules/context.ts';
import { measured, noSaving, Saving } from '../rules/saving.ts';
import { databaseFiles } from '../core/database-files.ts';
import { ONE_TRANSACTION, type Found, type Rule } from '../rules/types.ts';
import { countOf, formatBytes, formatCount, formatShare } from '../../text/numbers.ts';

const FEW = 10;
const FEW_VERSIONS = 50;
const FEW_SMALL_CALLS = 200;
const SMALL = 512;
const FEW_POLLS = 20;

/** Computed only where storage calls were recorded at all. */
const blockWritesIn = (ctx: FindingContext): readonly BlockWrites[] =>
  ctx.calls(Op.idbPut, Op.idbAdd, Op.idbGet, Op.opfsRead, Op.opfsFileRead)
    ? ctx.get(blockWrites)
    : [];

/** What SQLite writes to these files never fills blocks, with any page size. */
const PARTIAL_ADVICE: Partial<Record<string, Pick<Found, 'advice' | 'why'>>> = {
  wal: {
    advice:
      'Replace the WAL with a rollback journal or batch-atomic writes, or use blocks as small as pages.',
    why: 'A frame of a WAL is 24 bytes and a page, so it never fills a block.',
  },
  journal: {
    advice:
      'Avoid the rollback journal. If the VFS has batch-atomic writes, raise cache_size until a transaction fits in the page cache. Otherwise, journal_mode=memory avoids it, but a crash during a commit then damages the database.',
    why: 'For each page, SQLite writes 4 bytes, the page, and 4 bytes to a rollback journal. These writes never fill whole blocks.',
  },
};

export const readModifyWrite: Rule = {
  id: 'F09',
  title: 'Read-modify-write of partial blocks',
  run(ctx) {
    return blockWritesIn(ctx)
      .filter((b) => b.readModifyWrites >= FEW && b.readBytes > 0)
      .map((b): Found => {
        const block = b.blockBytes === null ? 'a block' : `a block of ${formatBytes(b.blockBytes)}`;
        return {
          title: `${countOf(b.readModifyWrites, 'write')} to ${b.path} filled only part of ${block}, which had to be read first: ${formatBytes(b.readBytes)} read${b.rewrittenBytes ? ` and ${formatBytes(b.rewrittenBytes)} written back` : ''} for nothing`,
          evidence: { ...b.reads.result(ctx), bytes: b.wastedBytes },
          ...measured(b.readUs, `${b.readModifyWrites} storage reads, as long as each took`),
          confidence: 'likely',
          reason:
            'during each write, the VFS read from storage, or read a block from IndexedDB and wrote it back in one transaction. The saving only counts these reads',
          ...(PARTIAL_ADVICE[b.kind] ?? {
            advice: 'Make the page size the block size, so that every write covers whole blocks.',
          }),
          link: 'https://www.sqlite.org/pragma.html#pragma_page_size',
          tryInLab: 'block-writes',
        };
      });
  },
};

export const pageDoesNotFitBlock: Rule = {
  id: 'F20',
  title: 'Page size does not fit block size',
  run(ctx) {
    const pageBytes = new Map(
      ctx.get(databaseFiles).list.map(({ path, pageSize }) => [plainPath(path), pageSize.bytes]),
    );
    return blockWritesIn(ctx).flatMap((b): Found | [] => {
      const page = pageBytes.get(plainPath(b.path));
      if (
        b.kind !== 'main-db' ||
        b.blockBytes === null ||
        !page ||
        page === b.blockBytes ||
        b.writes < FEW
      )
        return [];
      if (page < b.blockBytes && !b.partialWrites) return [];
      const evidence = new Evidence();
      ctx.each(Op.xWrite, (thread, row) => {
        if (ctx.file(thread, thread.events.object[row]!)?.path === b.path)
          evidence.add(thread, row);
      });
      const times =
        page > b.blockBytes
          ? `each write takes ${formatCount(page / b.blockBytes)} blocks`
          : `${countOf(b.partialWrites!, 'write')} filled a part of one only`;
      return {
        title: `Pages of ${formatBytes(page)} in blocks of ${formatBytes(b.blockBytes)} on ${b.path}: ${times}`,
        evidence: evidence.result(ctx),
        ...measured(
          b.readUs,
          `${b.readModifyWrites} storage reads under writes, as long as each took`,
        ),
        confidence: 'likely',
        reason:
          'the block is taken from the largest value that was put, the page from the longest read or write',
        advice:
          "Set PRAGMA page_size to the block size before the first write. An IndexedDB VFS can't change it later.",
        ...(isPageSize(b.blockBytes) ? { sql: `PRAGMA page_size=${b.blockBytes};` } : {}),
        link: 'https://www.sqlite.org/pragma.html#pragma_page_size',
        tryInLab: 'block-writes',
      };
    });
  },
};

export const versionedKeys: Rule = {
  id: 'F19',
  title: 'Versioned keys amplify writes',
  run(ctx) {
    const puts = ctx.calls(Op.idbPut, Op.idbAdd);
    if (puts < FEW_VERSIONS) return [];
    // puts that serve a VFS, and deletes in their transactions
    const none = () => ({ puts: 0, deletes: 0, evidence: new Evidence() });
    const stores = new Map<string, ReturnType<typeof none>>();
    const storeOf = (name: string) => getOrMake(stores, name, none);
    for (const op of [Op.idbPut, Op.idbAdd])
      ctx.each(op, (thread, row) => {
        if (ctx.get(owners).of(thread).vfs(row) >= 0)
          storeOf(objectName(thread, thread.events.object[row]!)).puts++;
      });
    for (const op of [Op.idbDelete, Op.idbCursorDelete])
      ctx.each(op, (thread, row) => {
        const s = storeOf(objectName(thread, thread.events.object[row]!));
        s.deletes++;
        s.evidence.add(thread, row);
      });
    return [...stores]
      .filter(([, s]) => s.puts >= FEW_VERSIONS && s.deletes >= 0.8 * s.puts)
      .map(([name, s]) => ({
        title: `Pages written to ${name} took ${countOf(s.puts, 'put')} and ${countOf(s.deletes, 'delete')}`,
        evidence: s.evidence.result(ctx),
        // each waits for all requests before it, so their sum would be many times the time that
        // passed
        ...noSaving('the deletes run alongside the puts, and only another VFS avoids them'),
        confidence: 'likely',
        reason:
          'about as many deletes as puts in the same store, as in a VFS that stores versions of pages under their own keys',
        advice:
          'Compare a VFS that overwrites its blocks, or one on OPFS, in the Lab. This kind of VFS always writes this way.',
        link: 'https://www.w3.org/TR/IndexedDB/',
        tryInLab: 'autocommit-1000',
      }));
  },
};

export const smallCalls: Rule = {
  id: 'F44',
  title: 'Calls of a few bytes',
  run(ctx) {
    const evidence = new Evidence();
    let calls = 0;
    let split = 0;
    for (const op of [Op.opfsRead, Op.opfsWrite])
      ctx.each(op, (thread, row) => {
        const { events } = thread;
        const at = ctx.get(owners).of(thread).vfs(row);
        const inVfs = at >= 0;
        // SQLite writes a log's frame, and a statement journal's page, as a header and a page, in
        // every journal mode
        const kind = inVfs ? ctx.file(thread, events.object[at]!)?.kind : undefined;
        if (kind === 'wal' || kind === 'temp') return;
        calls++;
        if (events.length[row]! >= SMALL) return;
        evidence.add(thread, row);
        if (inVfs && !(events.length[at]! < SMALL)) split++;
      });
    if (evidence.count < FEW_SMALL_CALLS || evidence.count < 0.4 * calls) return [];
    return {
      title: `${formatCount(evidence.count)} of ${countOf(calls, 'read and write', 'reads and writes')} in OPFS move less than ${SMALL} bytes (${formatShare(evidence.count / calls)}), ${formatBytes(evidence.bytes)} in all`,
      evidence: evidence.result(ctx),
      ...(split > evidence.count / 2
        ? noSaving('the VFS makes most of them of larger calls: only its author can join them')
        : measured(
            evidence.us,
            `the time of all ${formatCount(evidence.count)} small calls, the maximum that a buffer can save`,
          )),
      confidence: 'likely',
      reason:
        'a call costs about the same for 4 bytes as for 4,096; half of the writes to a rollback journal are of 4 bytes',
      advice:
        'If you wrote the VFS yourself, buffer small writes until the next sync. If a library did, journal_mode=memory avoids the small writes to the journal, but a crash during a commit then damages the database.',
      link: 'https://fs.spec.whatwg.org/#api-filesystemsyncaccesshandle',
      tryInLab: 'journal-modes',
    };
  },
};

export const changeCounterPolling: Rule = {
  id: 'F45',
  title: 'Change counter polled by whole blocks',
  run(ctx) {
    const evidence = new Evidence();
    for (const op of [Op.idbGet, Op.idbOpenCursor])
      ctx.each(op, (thread, row) => {
        const { events } = thread;
        const at = ctx.get(owners).of(thread).vfs(row);
        if (
          at < 0 ||
          events.op[at] !== Op.xRead ||
          events.offset[at] !== VERSION_AT ||
          events.length[at] !== VERSION_BYTES
        )
          return;
        if (
          events.flags[row]! & Flag.threw ||
          ctx.file(thread, events.object[at]!)?.kind !== 'main-db'
        )
          return;
        if (bytesMoved(events, row) >= SMALL) evidence.add(thread, row);
      });
    if (evidence.count < FEW_POLLS) return [];
    return {
      title: `${countOf(evidence.count, 'check')} for changes by other connections fetched ${formatBytes(evidence.bytes)} of blocks from IndexedDB`,
      evidence: evidence.result(ctx),
      ...new Saving(ctx).avoid(evidence.count - 1, Op.idbGet, 'gets', '', evidence.cost).result(),
      confidence: 'likely',
      reason: `each get belongs to an xRead of ${VERSION_BYTES} bytes at offset ${VERSION_AT}, which starts every read transaction; fewer transactions also save locks, which the saving leaves out`,
      advice:
        'Wrap consecutive reads in BEGIN ... COMMIT. If only one tab or worker opens the database, you can set locking_mode=exclusive instead.',
      sql: ONE_TRANSACTION,
      link: 'https://www.sqlite.org/fileformat2.html#file_change_counter',
      tryInLab: 'polling',
    };
  },
};
