/** What `vfscope --help` says, whole and by command. */

export const COMMANDS = `  vfscope demo                            record the app that ships with vfscope, and print what it shows
      [--vfs OPFSCoopSync|AccessHandlePool|IDBBatchAtomic]  where it keeps its database; default OPFSCoopSync
      [--headed]             in a window: use the app yourself, until Ctrl+C
      [--out FILE.vfst] [--browser chromium|firefox] [--screenshot FILE.png] [--json]
  vfscope record <url>                    record a page with the real extension in a real browser, and print what it shows
      [--out FILE.vfst]      default: a name from the page's host and the time, in this folder
      [--until "<js>"]       end when this expression in the page is truthy (at most --seconds, default 120)
      [--seconds N]          end N seconds after the page has loaded (default 5)
      [--script steps.mjs]   drive the page: export default async (page, panel) => {}
      [--marks]              save only what happens between the page's performance.mark('vfscope:start') and 'vfscope:stop'
      [--until-mark]         end at the page's performance.mark('vfscope:stop') (at most --seconds, default 120)
      [--capture 0..3]       0 no SQL text, 1 literals folded (default), 2 with literals, 3 with bound values, too
      [--layers sql,vfs,web,query] what to hook; default all. vfs alone costs the app least: VFS calls and commits
      [--stacks]             the JavaScript stack of each statement's first prepare
      [--messages]           when threads send each other messages, never what is in them: from a click to its answer
      [--instructions]       how many instructions SQLite executes for each call: the same count on every run and machine
      [--buffer KIB]         size of each thread's event buffer: 256, 512, 1024 (default), 2048, or 4096
      [--cpu]                sample the CPU, in Chromium: the hottest functions of each statement
      [--names FILE.wasm]    with --cpu: take the names of SQLite's functions from the same build with names
      [--below-storage]      show what Chromium does for storage calls, and check vfscope's counts by Chromium's
      [--scope tab|origin]   record the tab (default) or all tabs of its origin
      [--devtools]           open DevTools on the page; in Chromium, that slows it down
      [--connect http://localhost:9222]  in a browser that is already running, without the extension: Chrome, Edge, Electron,
                             Android; <url> is how an open page's address begins, and the page reloads;
                             leave it out if only one page is open
      [--require-sqlite]     exit with 1 if no SQLite was seen
      [--headed]             in a window; without the options above, until Ctrl+C
      [--screenshot FILE.png] [--browser chromium|firefox] [--json]
  vfscope listen                          record pages that load the hook from this machine, until Ctrl+C
      [--out FILE.vfst] [--port N] [--json]
      [--origin ORIGIN ...]  pages of this origin may send, besides those of this machine
      [--capture 0..3] [--layers sql,vfs,web,query] [--stacks] [--messages] [--instructions] [--buffer KIB]  as record
  vfscope doctor <url>                    what the page's origin holds and stores now: locks, databases, files, quota
      [--connect http://localhost:9222]  look at an open page in a browser that is already running, without a reload;
                             default: load it in an installed Chromium, with its own storage
      [--seconds N]          watch its locks for N seconds (default 5 after a load, 2 in an open page)
      [--markdown | --json]  as Markdown for a bug report; as one object, unknown numbers null
  vfscope summary FILE.vfst               one page for a bug report
      [--markdown | --json]  as Markdown; as one object, unknown numbers null
      [--privacy]            what the recording reveals about your app: how many texts of each kind
  vfscope findings FILE [--json]          what to change, the largest saving first
      [--rule F01]           only of this rule
      [--short]              without the events behind each, as Markdown for a coding agent, or with --json
  vfscope query FILE.vfst "<sql>"         SQL over the recording: events, executions, files, ...
      [--rows N] [--json]    at most N rows, default 100
      [--tables [--short]]   list the tables and their columns instead; with --short, only their names
  vfscope mcp                             for coding agents: six tools over standard input and output
  vfscope plans FILE.vfst [--json]        how SQLite reads tables for each statement, beside pages and steps
      [--database FILE]      with this database's schema and statistics; default: the recorded CREATE statements
  vfscope export FILE --format chrome|perfetto|firefox|csv|arrow|parquet|otlp|sqlite|vfstrace|html|vfst --out F
      [--sanitize]           anonymize: replace names of files, tables, and columns, and URLs; remove literals
      [--json]               what was written, as one object
      FILE may be a folder of .vfst files: with parquet it becomes a data set, as by fleet add
  vfscope fleet add INPUT ... --out DIR   add traces and reports of vfscope/field to a Parquet data set: files, or folders of them
      [--label name=value ...]  labels for traces (reports have their own): release, device, or others
      [--sanitize]           anonymize first, as export does
      [--shard i/n]          only the i-th of n parts of the inputs, on one core: start one for each core of your machines
                              default: all inputs, on every core of this one
      [--json]               how many were added, as one object
  vfscope fleet compact DIR [--json]      one file for each table and day
  vfscope fleet report DIR                share of page lives with each finding, long lock wait, and error
      [--by release|browser|device|engine|vfs_class] [--markdown | --json]
  vfscope diff A.vfst B.vfst [--json | --markdown]  faster or slower, and by how much; counts exactly; findings solved and new
  vfscope check FILE.vfst [--budget budget.json] [--baseline BASE.vfst] [--json]
      baseline: no count may exceed that of this recording of the same work; a budget's limits take precedence
      budget: limits by path in the summary: {"commits": {"max": 10}, "files[kind=wal].vfs.xWrite": {"max": 99, "optional": true}}
  vfscope open FILE.vfst                  show it in your browser, until Ctrl+C; nothing leaves this machine
      [--no-browser]         only print the address
      [--json]               the address as one object
      [--lab]                in a Chromium with the extension, where Try and Replay run
      [--screenshot FILE.png]  save a picture of the Answer instead
  vfscope lab list [--json]               experiments and workloads
  vfscope lab run <experiment|workload>   in a browser, on fresh storage of its own
      [--node]               in Node, on in-memory databases
      [--count]              count the engine's instructions exactly, instead of taking times
      [--statements | --functions]  with --count of a workload: by statement, and between VFS calls; or by function of the engine
      [--memory]             with --count: loads and stores of the engine's memory, too
      [--config k=v ...]     settings (vfs, build, pageSize, cacheSize, journalMode, ...) and the workload's parameters;
                             k=v,v,v runs every combination, and shows how the counts grow;
                             vfs=A,B runs an experiment on each
      [--compare k=v ...]    run it again with these settings, side by side
      [--engine FILE.wasm|PACKAGE@VERSION]  another SQLite, in Node: a wasm file, or a release of sql.js, @sqlite.org/sqlite-wasm,
                             wa-sqlite, or @journeyapps/wa-sqlite (several: separated by commas)
      [--cache FOLDER]       where to store releases that npm fetches
      [--native]             with --node: compare times with the system's sqlite3, or with node:sqlite
      [--repeats N] [--sql FILE] [--file DATABASE] [--browser chromium|firefox] [--headed] [--json]
      [--html FILE] [--svg FILE] [--csv FILE]  a report with charts, the charts alone, every number
  vfscope lab show RESULT.json            a saved result (--json) as text
      [--leave-out [RUN:]PASS=REASON] [--json]  without a pass that isn't a valid measurement
      [--html FILE] [--svg FILE] [--csv FILE]
  vfscope lab diff A.json B.json [--json] two saved results: counts exactly, times with their spread
  vfscope lab check RESULT.json --budget budget.json [--json]
      limits on counts by run, step, and counter: {"total/vfs.xSync": {"max": 10}, "journal/run/instructions": {"max": 1e8}}
  vfscope lab replay FILE.vfst            what if: the recording's VFS calls on another VFS
      --config vfs=... [k=v ...] [--node] [--out REPLAY.vfst] [--json] [--html FILE] [--svg FILE] [--csv FILE]
      [--page-sizes]           instead: estimate its reads and writes with pages of 512 to 65536 bytes
      [--checkpoints]          instead: count frames, writes, reads, and syncs with other values of wal_autocheckpoint
  vfscope lab crash                       what survives a crash: a table of guarantees, on emulated storage
      [--config k=v,v ...]   vfs, journalMode, synchronous, durability, commits=N, truncates=ordered|any
      [--require kept|intact] [--json]  exit with 1 if commits, or the database, can be lost
      [--html FILE] [--svg FILE] [--csv FILE]
  vfscope lab versions                    instructions of speedtest1 over all releases that npm lists, with the wasm size
      [--package NAME ...]   sql.js, @sqlite.org/sqlite-wasm (both by default), wa-sqlite, @journeyapps/wa-sqlite
      [--releases NAME@VERSION,...] [--last N] [--from VERSION] [--to VERSION]
      [--out GRAPH.json]     saved after each release; run the same command again to continue
      [--bisect] [--step ID] [--by PERCENT]  of one package: the first release whose count differs
      [--workload NAME] [--config k=v ...] [--cache FOLDER] [--json] [--html FILE] [--svg FILE] [--csv FILE]
  vfscope lab advise FILE.vfst --database DATABASE    which indexes help the recording's statements, on a copy
      [--json] [--out ADVICE.json]
  vfscope completion bash|zsh|fish        a script for your shell: eval "$(vfscope completion bash)"`;

/** Every command with its options. @param version of this vfscope */
export const usage = (
  version: string,
): string => `vfscope ${version}: shows what SQLite in a web page does to storage

${COMMANDS}

vfscope <command> --help                  help for one command
vfscope --version
Exit codes: 0 done, 1 a check failed, 2 wrong use, 3 browser or page failed.`;

/** One command with its options, as `record` or `lab`. @returns null where there is no such command */
export function usageOf(command: string): string | null {
  const mine = COMMANDS.split(/\n(?= {2}vfscope )/).filter(
    (part) => part.split(' ', 4)[3] === command,
  );
  return mine.length ? mine.join('\n') : null;
}
