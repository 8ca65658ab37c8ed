/**
 * What each rule shows, when it stays silent and what it counts, in words: for docs/findings.md (`npm run docs`) and for help
 * beside a finding. A number here is a threshold of the rule's own file.
 */
export interface RuleAbout {
  /** What it finds, one sentence. */
  shows: string;
  /** When it says nothing although one might expect it to. */
  silent: string;
  /** What `evidence.count` counts. */
  counts: string;
  link: string;
}

const WASM = 'https://sqlite.org/wasm/doc/trunk/persistence.md';
const HANDLES = 'https://fs.spec.whatwg.org/#api-filesystemfilehandle-createsyncaccesshandle';
const IDB = 'https://www.w3.org/TR/IndexedDB/';
const WEB_LOCKS = 'https://www.w3.org/TR/web-locks/';
const PAGE_SIZE = 'https://www.sqlite.org/pragma.html#pragma_page_size';

/** By id of the rule. */
export const ABOUT_RULES: Readonly<Record<string, RuleAbout>> = {
  F01: {
    shows:
      'Small commits one after another, each with its own journal, sync and locks, where one BEGIN .. COMMIT would do.',
    silent:
      'Fewer than 10 in a row; more than 100 ms between; half of the run changes more than 4 pages; a database in memory, of which nothing is stored meanwhile.',
    counts: 'commits',
    link: 'https://www.sqlite.org/faq.html#q19',
  },
  F02: {
    shows: 'Read transactions that read no page: lock, look at the change counter, unlock.',
    silent: 'Fewer than 10 in a row, or more than 100 ms between.',
    counts: 'read transactions',
    link: 'https://www.sqlite.org/lang_transaction.html',
  },
  F03: {
    shows:
      'A tab or worker that is refused a file of OPFS which another one of the same origin has open, and never gets it.',
    silent:
      'It gets the file later (that is how some VFSs share one); the holder is not in the recording.',
    counts: 'refused calls of createSyncAccessHandle',
    link: HANDLES,
  },
  F04: {
    shows: 'A file that is refused within 5 s after a tab or worker ended without closing it.',
    silent: 'Somebody in the recording holds the file (F03).',
    counts: 'refused calls of createSyncAccessHandle',
    link: HANDLES,
  },
  F05: {
    shows:
      'A request for a Web Lock that waits for 2 s or more while its holder makes no SQL, VFS or storage call.',
    silent: 'The holder is at work, or not in the recording.',
    counts: 'requests',
    link: WEB_LOCKS,
  },
  F06: {
    shows: 'Three SQLITE_BUSY answers or more on one connection, less than half a second apart.',
    silent: 'A busy handler waits longer between tries.',
    counts: 'refusals',
    link: 'https://www.sqlite.org/rescode.html#busy',
  },
  F07: {
    shows: 'What the rollback journal adds to commits: its opens, writes, syncs and deletes.',
    silent:
      'Fewer than 10 commits; a VFS with batch-atomic writes (F12); a database in memory, of which nothing is stored meanwhile.',
    counts: 'commits',
    link: 'https://www.sqlite.org/wal.html#noshm',
  },
  F08: {
    shows: 'journal_mode=wal was asked for, and later commits use a rollback journal all the same.',
    silent: 'No commit follows, or another mode was asked for since; SQL is not recorded.',
    counts: 'commits after the PRAGMA',
    link: 'https://www.sqlite.org/wal.html#noshm',
  },
  F09: {
    shows:
      'Writes that fill only a part of a storage block, which is read first and written back whole.',
    silent:
      "Fewer than 10; the block was in the VFS's own cache; reads below 512 bytes, which are notes on blocks; every write of the trace fills whole blocks.",
    counts: 'reads of such blocks',
    link: PAGE_SIZE,
  },
  F10: {
    shows:
      'More than two IndexedDB transactions for each lock period of SQLite, most of them with one request.',
    silent: 'VFS calls are not recorded on the thread that uses IndexedDB; fewer than 20.',
    counts: 'transactions with one request',
    link: IDB,
  },
  F11: {
    shows:
      "Pages that a connection reads again though nobody has changed them: SQLite's page cache had dropped them. Names the size that would hold them.",
    silent: 'Fewer than 50, or less than a third of the reads; no page was read three times.',
    counts: 'reads of pages that the connection had had',
    link: 'https://www.sqlite.org/pragma.html#pragma_cache_size',
  },
  F12: {
    shows:
      'A rollback journal on a VFS with batch-atomic writes: the transaction did not fit into the page cache, or it covers several databases.',
    silent: 'Fewer than 4 journal writes in the transaction.',
    counts: 'transactions',
    link: 'https://www.sqlite.org/c3ref/c_iocap_atomic.html',
  },
  F13: {
    shows:
      'A write-ahead log that has grown for more than 4,000 frames and has not begun anew by the end of the recording.',
    silent: 'A checkpoint let it begin anew, or closing the database deleted it.',
    counts: 'frames',
    link: 'https://www.sqlite.org/wal.html#avoiding_excessively_large_wal_files',
  },
  F14: {
    shows: 'Time spent in flush() of access handles, and flushes for each commit.',
    silent: 'Fewer than 10, or less than a tenth of the time of the trace.',
    counts: 'flushes',
    link: 'https://www.sqlite.org/pragma.html#pragma_synchronous',
  },
  F15: {
    shows:
      'Writing transactions of IndexedDB that ask for strict durability, beside relaxed ones where there are both.',
    silent: 'Fewer than 10 strict ones.',
    counts: 'strict transactions',
    link: `${IDB}#transaction-durability-hint`,
  },
  F16: {
    shows:
      'Storage that the browser refuses at the start, as in private windows, and that is not used afterwards.',
    silent: 'Any read or write of storage succeeded.',
    counts: 'errors and failed opens',
    link: 'https://fs.spec.whatwg.org/#dom-storagemanager-getdirectory',
  },
  F17: {
    shows: 'readwrite transactions of IndexedDB that write nothing and keep others from starting.',
    silent: 'Fewer than 10.',
    counts: 'transactions',
    link: `${IDB}#transaction-scheduling`,
  },
  F18: {
    shows:
      'Four gets or more on neighbouring keys of one store, in one direction, in one transaction that asks nothing else between. Neighbours are one block apart.',
    silent: 'One getAll each would save fewer than 20 gets; keys are no numbers.',
    counts: 'gets',
    link: `${IDB}#dom-idbobjectstore-getall`,
  },
  F19: {
    shows: 'A delete for nearly every put beneath a VFS: versions of pages as keys.',
    silent: 'Fewer than 50 puts, or less than 8 deletes for 10 puts.',
    counts: 'deletes',
    link: IDB,
  },
  F20: {
    shows: 'A page size other than the size of the storage blocks beneath.',
    silent:
      'Blocks have no fixed size; fewer than 10 writes; smaller pages that happen to fill whole blocks.',
    counts: 'writes',
    link: PAGE_SIZE,
  },
  F21: {
    shows:
      'Scans: runs of 8 neighbouring pages or more, and how many reads pages of 32 KiB would take.',
    silent:
      'Fewer than 100 reads in runs, or less than half of the first reads; pages above 4 KiB.',
    counts: 'reads in runs',
    link: PAGE_SIZE,
  },
  F22: {
    shows: 'A first statement that waits for 8 pages of schema or more.',
    silent: 'The database was open before the recording.',
    counts: 'reads beneath the first sqlite3_prepare',
    link: 'https://www.sqlite.org/fileformat2.html#storage_of_the_sql_database_schema',
  },
  F23: {
    shows:
      'Single values of 90 % of the database or more, put into storage three times or more by the app itself.',
    silent: 'The database is below 64 KiB; the value is a block of a VFS.',
    counts: 'saves',
    link: WASM,
  },
  F24: {
    shows:
      'A tab or worker that ended with storage writes under way which SQLite had called committed.',
    silent:
      'The recording was stopped before; the writes are beneath a VFS call that had not returned.',
    counts: 'unfinished calls',
    link: 'https://www.w3.org/TR/page-visibility-2/',
  },
  F25: {
    shows:
      'Transactions with neither atomic write, journal nor sync on a VFS with batch-atomic writes (synchronous=OFF).',
    silent: 'Any of the three is there.',
    counts: 'transactions',
    link: 'https://www.sqlite.org/pragma.html#pragma_synchronous',
  },
  F26: {
    shows:
      'Write transactions open for more than a second with less than 5 % of it at work, and BEGIN inside a transaction.',
    silent: 'The lock is kept for good (locking_mode=exclusive).',
    counts: 'transactions, or failed BEGINs',
    link: 'https://www.sqlite.org/lang_transaction.html',
  },
  F27: {
    shows: 'Requests for a lock that wait for a tab which is hidden or frozen and does nothing.',
    silent: 'The hidden tab is at work for half of the time or more; waits below 100 ms.',
    counts: 'requests',
    link: WEB_LOCKS,
  },
  F28: {
    shows:
      'IDBDatabase.transaction() that throws after the tab was hidden: the browser has closed the connection.',
    silent: 'The tab was never hidden.',
    counts: 'calls that threw',
    link: `${IDB}#closing-connection`,
  },
  F29: {
    shows:
      'Opening or deleting a database of IndexedDB that the browser calls blocked and that takes 0.1 s or more; and one that takes 4 s or more while other threads use it.',
    silent: 'The database was free, or its connections were closed at once.',
    counts: 'calls',
    link: `${IDB}#eventdef-idbopendbrequest-blocked`,
  },
  F30: {
    shows:
      'Errors of exhausted stack or memory, and pages that begin anew in the middle of a write transaction.',
    silent: 'The error was caught by the app.',
    counts: 'errors, or pages',
    link: 'https://emscripten.org/docs/porting/asyncify.html',
  },
  F32: {
    shows: 'Calls that answer SQLITE_CORRUPT or SQLITE_NOTADB.',
    silent: 'Never, where such an answer was recorded.',
    counts: 'calls',
    link: 'https://www.sqlite.org/howtocorrupt.html',
  },
  F33: {
    shows: 'Writes to a database by a connection whose lock level is below RESERVED.',
    silent:
      'The file was open before the recording; the database has a WAL, whose checkpoints write under other locks.',
    counts: 'writes',
    link: 'https://www.sqlite.org/lockingv3.html',
  },
  F34: {
    shows:
      'A page that is not cross-origin isolated though its storage needs it: an error that says so, or the fallback of absurd-sql.',
    silent: 'The app chose another VFS without an error.',
    counts: 'errors, or threads in fallback',
    link: 'https://html.spec.whatwg.org/multipage/browsers.html#cross-origin-opener-policies',
  },
  F35: {
    shows: 'xOpen that fails on a VFS with a fixed pool of files.',
    silent: 'The VFS has no pool in its name.',
    counts: 'failed xOpen',
    link: `${WASM}#vfs-opfs-sahpool`,
  },
  F36: {
    shows: 'Reads and writes of temporary files that go through the VFS.',
    silent: 'Fewer than 20.',
    counts: 'reads and writes',
    link: 'https://www.sqlite.org/tempfiles.html',
  },
  F37: {
    shows: 'createSyncAccessHandle that fails with 200 handles open or more.',
    silent: 'Another handle on the same file is the reason (F03).',
    counts: 'refused calls',
    link: HANDLES,
  },
  F38: {
    shows: 'A file whose access handle is opened and closed over and over.',
    silent: 'Fewer than 10 times, or less than twice a second.',
    counts: 'pairs of open and close',
    link: HANDLES,
  },
  F39: {
    shows:
      'Atomics.wait beneath VFS calls that takes longer than the storage calls of the other threads: the round trip to a proxy.',
    silent:
      'Fewer than 50 waits; waits beneath xLock and xUnlock, which are for the lock; less than a fifth is overhead.',
    counts: 'waits',
    link: WASM,
  },
  F40: {
    shows: 'What VACUUM wrote: every page, twice with a journal.',
    silent: 'Fewer than 20 writes; SQL is not recorded.',
    counts: 'writes and syncs beneath VACUUM',
    link: 'https://www.sqlite.org/lang_vacuum.html',
  },
  F41: {
    shows:
      'Checkpoints that copy the same pages again and again, and frames read back a moment after they were written.',
    silent:
      'Fewer than 3 checkpoints, fewer than 20 copies that are repeated, or less than half of them.',
    counts: 'reads and writes of checkpoints',
    link: 'https://www.sqlite.org/wal.html#ckpt',
  },
  F42: {
    shows:
      'QuotaExceededError and SQLITE_FULL; and storage of which the browser says that 90 % of its quota is in use.',
    silent: 'The error was caught by the app and no call of SQLite answered SQLITE_FULL.',
    counts: 'errors and calls',
    link: 'https://storage.spec.whatwg.org/#usage-and-quota',
  },
  F43: {
    shows: 'Writable streams on a file: each copies the whole file to change a part of it.',
    silent: 'Fewer than 10 streams, or a quarter of the file or more is written each time.',
    counts: 'streams',
    link: 'https://fs.spec.whatwg.org/#api-filesystemfilehandle-createwritable',
  },
  F44: {
    shows: 'Reads and writes of OPFS below 512 bytes.',
    silent: 'Fewer than 200, or less than 40 % of all.',
    counts: 'calls below 512 bytes',
    link: 'https://fs.spec.whatwg.org/#api-filesystemsyncaccesshandle',
  },
  F45: {
    shows:
      'Looks at the change counter (16 bytes) for which a VFS fetches a whole block from IndexedDB.',
    silent: 'Fewer than 20.',
    counts: 'gets',
    link: 'https://www.sqlite.org/fileformat2.html#file_change_counter',
  },
  F46: {
    shows:
      'A write transaction of IndexedDB that failed, with nothing stored by the origin since, while SQLite committed three times or more.',
    silent:
      'The app aborted it itself; anything was stored after it; a write is under way as the recording ends.',
    counts: 'failed transactions',
    link: 'https://w3c.github.io/IndexedDB/#transaction-lifecycle',
  },
};
