/** The text of `vfscope --help`: a line for each command, or all options of one. */

export const COMMANDS = `  vfscope demo                            record the demo app, and print what took the time
      [--vfs OPFSCoopSync|AccessHandlePool|IDBBatchAtomic]  which VFS stores its database; default OPFSCoopSync
      [--headed]             show the browser: use the app yourself, then press Ctrl+C
      [--out FILE.vfst] [--browser chromium|firefox] [--screenshot FILE.png] [--json]
  vfscope record <url>                    record a page in a browser, and print what took the time
      [--out FILE.vfst]      default: a name from the page's host and the time, in this folder
      [--until "<js>"]       end when this expression in the page is truthy (at most --seconds, default 120)
      [--seconds N]          end N seconds after the page has loaded (default 5)
      [--script steps.mjs]   drive the page: export default async (page, panel) => {}
      [--marks]              save only what happens between the page's performance.mark('vfscope:start') and 'vfscope:stop'
      [--until-mark]         end at the page's performance.mark('vfscope:stop') (at most --seconds, default 120)
      [--capture 0..3]       0 no SQL text, 1 with ? for literals (default), 2 with literals, 3 also bound values
      [--layers sql,vfs,web,query] what to record; default all. vfs alone slows the app least: only VFS calls and commits
      [--stacks]             the JavaScript stack of each statement's first prepare
      [--messages]           when threads send each other messages, to follow a click to its answer; never their contents
      [--instructions]       how many instructions SQLite executes for each call: the same count on every run and machine
      [--buffer KIB]         size of each thread's event buffer: 256, 512, 1024 (default), 2048, or 4096
      [--cpu]                sample the CPU, in Chromium: the hottest functions of each statement
      [--names FILE.wasm]    with --cpu: take the names of SQLite's functions from the same build with names
      [--below-storage]      show what Chromium does for storage calls, and compare its counts with vfscope's
      [--scope tab|origin]   record the tab (default) or all tabs of its origin
      [--devtools]           open DevTools on the page; in Chromium, that slows it down
      [--connect http://localhost:9222]  in a browser that is already running, without the extension: Chrome, Edge, Electron,
                             Android. <url> is how an open page's address begins; leave it out if only one is open.
                             The page reloads
      [--require-sqlite]     exit with 1 if no SQLite was seen
      [--headed]             show the browser; without --until, --until-mark, --seconds, or --script: record until Ctrl+C
      [--screenshot FILE.png] [--browser chromium|firefox] [--json]
  vfscope open FILE.vfst                  show a recording in your browser, until Ctrl+C; nothing leaves this machine
      [--no-browser]         only print the address
      [--json]               the address as one object
      [--lab]                in a Chromium with the extension, where Try and Replay run
      [--screenshot FILE.png]  save a picture of the Answer instead
  vfscope summary FILE.vfst               one page for a bug report
      [--markdown | --json]  as Markdown; or as one object, with null for unknown numbers
      [--privacy]            what the recording reveals about your app: how many texts of each kind
  vfscope findings FILE [--json]          what to change, the largest saving first
      [--rule F01]           only those of this rule
      [--short]              without the events behind each: Markdown for a coding agent, or --json
  vfscope query FILE.vfst "<sql>"         run SQL on a recording: tables events, executions, files, ...
      [--rows N] [--json]    at most N rows, default 100
      [--tables [--short]]   list the tables and their columns instead; with --short, only names of tables
  vfscope plans FILE.vfst [--json]        query plan of each statement, with the pages it read
      [--database FILE]      with this database's schema and statistics; default: the recorded CREATE statements
  vfscope diff A.vfst B.vfst              what got faster or slower, which counts changed, which findings are solved or new
      [--json | --markdown]
  vfscope check FILE.vfst                 exit with 1 if a count is above its limit, for CI
      [--budget budget.json]  limits by path in the summary:
                             {"commits": {"max": 10}, "files[kind=wal].vfs.xWrite": {"max": 99, "optional": true}}
      [--baseline BASE.vfst]  no count may exceed that of this recording of the same work; the budget's limits take precedence
      [--json]
  vfscope export FILE                     save a recording in another format
      --format chrome|perfetto|firefox|csv|arrow|parquet|otlp|sqlite|vfstrace|html|vfst
      --out F                - for stdout
      [--sanitize]           anonymize: replace names of files, tables, and columns, and URLs; remove literals
      [--json]               what was written, as one object
      FILE may be a folder of .vfst files: with parquet it becomes a data set, as with fleet add
  vfscope doctor <url>                    locks, databases, files, and quota of a page's origin, without a recording
      [--connect http://localhost:9222]  look at an open page in a browser that is already running, without a reload;
                             default: load it in an installed Chromium, with its own storage
      [--seconds N]          watch its locks for N seconds (default 5 after a load, 2 in an open page)
      [--markdown | --json]  as Markdown for a bug report; or as one object, with null for unknown numbers
  vfscope listen                          record pages that load vfscope's script from this machine, until Ctrl+C
      [--out FILE.vfst] [--port N] [--json]
      [--origin ORIGIN ...]  pages of this origin may send, too; by default only those of this machine
      [--capture 0..3] [--layers sql,vfs,web,query] [--stacks] [--messages] [--instructions] [--buffer KIB]  as record
  vfscope mcp                             six tools for coding agents, over standard input and output (MCP)
  vfscope lab list [--json]               list experiments and workloads
  vfscope lab run <experiment|workload>   run one in a browser, on fresh storage
      [--node]               in Node, on in-memory databases
      [--count]              count the engine's instructions exactly, instead of measuring times
      [--statements | --functions]  with --count of a workload: instructions by statement and between VFS calls,
                             or by function of the engine
      [--memory]             with --count: also loads and stores of the engine's memory
      [--config k=v ...]     settings (vfs, build, pageSize, cacheSize, journalMode, ...) and the workload's parameters;
                             k=v,v,v runs every combination, and shows how the counts grow;
                             vfs=A,B runs an experiment on each VFS
      [--compare k=v ...]    run it again with these settings, and show both
      [--engine FILE.wasm|PACKAGE@VERSION]  another SQLite, in Node: a wasm file, or a release of sql.js, @sqlite.org/sqlite-wasm,
                             wa-sqlite, or @journeyapps/wa-sqlite (several: separated by commas)
      [--cache FOLDER]       where to store releases that npm fetches
      [--native]             with --node: compare times with the system's sqlite3, or with node:sqlite
      [--repeats N] [--sql FILE] [--file DATABASE] [--browser chromium|firefox] [--headed] [--json]
      [--html FILE] [--svg FILE] [--csv FILE]  a report with charts; only the charts; every number
  vfscope lab show RESULT.json            a saved result (--json) as text
      [--leave-out [RUN:]PASS=REASON] [--json]  leave out a pass that isn't a valid measurement
      [--html FILE] [--svg FILE] [--csv FILE]
  vfscope lab diff A.json B.json [--json] compare two saved results: exact counts, times with their spread
      [--html FILE] [--svg FILE] [--csv FILE]
  vfscope lab check RESULT.json           exit with 1 if a count is above its limit
      --budget budget.json [--json]  limits by run, step, and counter:
                             {"total/vfs.xSync": {"max": 10}, "journal/run/instructions": {"max": 1e8}}
  vfscope lab replay FILE.vfst            repeat the recording's VFS calls on another VFS
      --config vfs=... [k=v ...] [--node] [--out REPLAY.vfst] [--json] [--html FILE] [--svg FILE] [--csv FILE]
      [--page-sizes]         instead: estimate its reads and writes with pages of 512 to 65536 bytes
      [--checkpoints]        instead: count frames, writes, reads, and syncs with other values of wal_autocheckpoint
  vfscope lab crash                       what survives a crash: a table of guarantees, on emulated storage
      [--config k=v,v ...]   vfs, journalMode, synchronous, durability, commits=N, truncates=ordered|any
      [--require kept|intact] [--json]  exit with 1 if commits, or the database, can be lost
      [--html FILE] [--svg FILE] [--csv FILE]
  vfscope lab versions                    instructions of speedtest1 and wasm size of each release on npm
      [--package NAME ...]   sql.js, @sqlite.org/sqlite-wasm (both by default), wa-sqlite, @journeyapps/wa-sqlite
      [--releases NAME@VERSION,...] [--last N] [--from VERSION] [--to VERSION]
      [--out GRAPH.json]     saved after each release; run the same command again to continue
      [--bisect] [--step ID] [--by PERCENT]  for one package: find the first release whose count differs
      [--workload NAME] [--config k=v ...] [--cache FOLDER] [--json] [--html FILE] [--svg FILE] [--csv FILE]
  vfscope lab advise FILE.vfst            find indexes that help the recording's statements, on a copy of your database
      --database DATABASE [--json] [--out ADVICE.json] [--html FILE] [--svg FILE] [--csv FILE]
  vfscope fleet add INPUT ... --out DIR   add recordings and reports of vfscope/field to a Parquet data set
      INPUT                  a .vfst file, a .json report, or a folder of them
      [--label name=value ...]  labels for recordings (reports have their own): release, device, or others
      [--sanitize]           anonymize first, as export does
      [--shard i/n]          only part i of n, on one core: start one for each core of your machines;
                             default: everything, on all cores of this machine
      [--json]               how many were added, as one object
  vfscope fleet compact DIR [--json]      rewrite the data set as one file for each table and day
  vfscope fleet report DIR                how often page lives have each finding, long lock wait, and error
      [--by release|browser|device|engine|vfs_class] [--markdown | --json]
  vfscope completion bash|zsh|fish        print completions for your shell: eval "$(vfscope completion bash)"`;

/** Every command, one per line. @param version of this vfscope */
export const usage = (
  version: string,
): string => `vfscope ${version}: shows what SQLite in a web page does to storage

${COMMANDS.match(/^ {2}vfscope .*/gm)!.join('\n')}

For all options of a command: vfscope <command> --help
Exit codes: 0 done, 1 a check failed, 2 wrong arguments, 3 browser or page failed.`;

/**
 * One command with its options, as `record` or `lab`.
 * @param verb of `lab` or `fleet`: show only this verb, if it exists @returns null if there is no
 * such command
 */
export function usageOf(command: string, verb?: string): string | null {
  const mine = COMMANDS.split(/\n(?= {2}vfscope )/).filter(
    (part) => part.split(' ', 4)[3] === command,
  );
  const one = mine.length > 1 ? mine.filter((part) => part.split(' ', 5)[4] === verb) : [];
  return mine.length ? (one.length ? one : mine).join('\n') : null;
}
