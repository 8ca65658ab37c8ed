/**
 * The words that a sanitized trace may keep: SQL's own, SQLite's functions and pragmas, names of
 * published engines and VFSs.
 */

const words = (text: string): ReadonlySet<string> => new Set(text.split(/\s+/).filter(Boolean));

/**
 * sqlite.org/lang_keywords.html; type names and the words of EXPLAIN, collations and isolation.
 * Lower case.
 */
export const SQL_WORDS = words(`
abort action add after all alter always analyze and as asc attach autoincrement before begin between by cascade case cast check collate column
commit conflict constraint create cross current current_date current_time current_timestamp database default deferrable deferred delete desc
detach distinct do drop each else end escape except exclude exclusive exists explain fail filter first following for foreign from full generated
glob group groups having if ignore immediate in index indexed initially inner insert instead intersect into is isnull join key last left like
limit match materialized natural no not nothing notnull null nulls of offset on or order others outer over partition plan pragma preceding
primary query raise range recursive references regexp reindex release rename replace restrict returning right rollback row rows savepoint select
set strict table temp temporary then ties to transaction trigger unbounded union unique update using vacuum values view virtual when where
window with without true false rowid _rowid_ oid
integer int bigint smallint tinyint real double float numeric decimal text varchar char character clob blob boolean date datetime timestamp any
binary nocase rtrim stored fts3 fts4 fts5 rtree json`);

/**
 * sqlite.org/lang_corefunc.html, lang_aggfunc, lang_datefunc, lang_mathfunc, windowfunctions,
 * json1.
 */
export const SQL_FUNCTIONS = words(`
abs changes coalesce concat concat_ws format hex ifnull iif instr last_insert_rowid length likelihood likely load_extension lower ltrim max min
nullif octet_length printf quote random randomblob round rtrim sign soundex sqlite_compileoption_get sqlite_compileoption_used sqlite_offset
sqlite_source_id sqlite_version substr substring total_changes trim typeof unhex unicode unlikely upper zeroblob avg count group_concat
string_agg sum total datetime julianday strftime time timediff unixepoch acos acosh asin asinh atan atan2 atanh ceil ceiling cos cosh degrees
exp floor ln log log10 log2 mod pi pow power radians sin sinh sqrt tan tanh trunc cume_dist dense_rank first_value lag last_value lead
nth_value ntile percent_rank rank row_number json_array json_array_length json_each json_extract json_group_array json_group_object json_insert
json_object json_patch json_pretty json_quote json_remove json_replace json_set json_tree json_type json_valid jsonb bm25 highlight snippet
sqlite_master sqlite_schema sqlite_sequence sqlite_stat1 sqlite_temp_master main generate_series dbstat`);

/** sqlite.org/pragma.html with the values that are words. */
export const PRAGMA_WORDS = words(`
analysis_limit application_id auto_vacuum automatic_index busy_timeout cache_size cache_spill cell_size_check checkpoint_fullfsync collation_list
compile_options data_version database_list encoding foreign_key_check foreign_key_list foreign_keys freelist_count fullfsync function_list
hard_heap_limit ignore_check_constraints incremental_vacuum index_info index_list index_xinfo integrity_check journal_mode journal_size_limit
legacy_alter_table locking_mode max_page_count mmap_size module_list optimize page_count page_size pragma_list query_only quick_check
read_uncommitted recursive_triggers reverse_unordered_selects schema_version secure_delete shrink_memory soft_heap_limit synchronous table_info
table_list table_xinfo temp_store threads trusted_schema user_version wal_autocheckpoint wal_checkpoint write_hint
delete truncate persist memory wal off normal extra fast incremental none passive restart file utf`);

/** Builds of SQLite and other databases that a trace names (src/engines). */
export const ENGINE_NAMES: ReadonlySet<string> = new Set([
  ...[
    'wa-sqlite',
    '@journeyapps/wa-sqlite',
    '@sqlite.org/sqlite-wasm',
    'sql.js',
    'absurd-sql',
    'SQLite (unknown build)',
    'not SQLite',
  ],
  '@jlongster/sql.js',
  '@tursodatabase/database-wasm',
  '@electric-sql/pglite',
  '@duckdb/duckdb-wasm',
]);

/** VFSs of SQLite and of the published packages; names of an app's own VFS are replaced. */
export const VFS_NAMES: ReadonlySet<string> = new Set([
  'unix',
  'unix-excl',
  'unix-none',
  'unix-dotfile',
  'memdb',
  'memory',
  'memory-async',
  'kvvfs',
  'opfs',
  'opfs-sahpool',
  'opfs-wl',
  'IDBBatchAtomicVFS',
  'IDBMinimalVFS',
  'IDBMirrorVFS',
  'IDBVersionedVFS',
  'MemoryVFS',
  'MemoryAsyncVFS',
  'AccessHandlePoolVFS',
  'OPFSAdaptiveVFS',
  'OPFSAnyContextVFS',
  'OPFSCoopSyncVFS',
  'OPFSPermutedVFS',
  'OPFSWriteAheadVFS',
  'OriginPrivateFileSystemVFS',
  'idb-batch-atomic',
  'idb-minimal',
  'idb-versioned',
  'blocked',
  'BlockedFS',
  'vfscope-blocks',
]);
