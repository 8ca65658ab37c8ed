/** The counts of a page life, and the report made from them. */
import { PRIMARY } from '../sqlite/result-codes.ts';
import { BUSY_BURST, PREPARED_AGAIN } from '../sqlite/rule-limits.ts';
import { HistogramCounter } from './buckets.ts';
import {
  FIELD_RULES,
  MOST_LABEL,
  MOST_LABEL_NAME,
  MOST_LABELS,
  MOST_LABELS_BYTES,
  MOST_REPORT_BYTES,
  MOST_TEXT,
  REPORT_FORMAT,
  type FieldReport,
  type StatementReport,
} from './report.ts';

/** How many different statements are counted in a page life. */
const MOST_STATEMENTS = 500;
const MOST_ERRORS = 20;
const BUSY = `SQLITE_${PRIMARY[5]}`;
/** With fewer runs there is no 99th percentile. */
const LEAST_RUNS = 100;
/** Characters of an origin. An extension's has 50; a host name has up to 253. */
const MOST_ORIGIN = 300;

export class StatementTally {
  readonly runs = new HistogramCounter();
  failed = 0;
  prepares = 0;
  constructor(
    readonly text: string,
    /** Its `sql` definition in the ring. */
    readonly id: number,
  ) {}
}

export class Tally {
  readonly syncs = new HistogramCounter();
  readonly locks = new HistogramCounter();
  engine: string | null = null;
  sqlite: string | null = null;
  /** Our own exceptions. The app's calls were made anyway, and aren't counted. */
  faults = 0;
  private readonly statements = new Map<string, StatementTally>();
  private readonly others = new StatementTally('(others)', 0);
  private readonly errors = new Map<string, number>();
  private readonly storages = new Set<string>();
  private busy = 0;
  /** Of these, the calls in bursts; the current burst, and the time of its last call. */
  private inBursts = 0;
  private burst = 0;
  private busyAt = -Infinity;
  private hangs = 0;
  private malformed = 0;
  private full = 0;
  private at = performance.timeOrigin + performance.now();

  private ran = 0;
  private slow = 0;

  /**
   * @param why receives each reason for a trace as it happens
   * @param p99Us a 99th percentile of a statement above this triggers a trace, microseconds
   */
  constructor(
    private readonly why: (reason: string) => void,
    private readonly p99Us = Infinity,
  ) {}

  get isEmpty(): boolean {
    return !(
      this.statements.size +
      this.errors.size +
      this.hangs +
      this.syncs.count +
      this.locks.count
    );
  }

  statement(text: string, define: () => number): StatementTally {
    let found = this.statements.get(text);
    if (found) return found;
    if (this.statements.size >= MOST_STATEMENTS) return this.others;
    this.statements.set(text, (found = new StatementTally(text, define())));
    return found;
  }

  /** A run of a statement has ended. */
  run(statement: StatementTally, us: number): void {
    statement.runs.add(us);
    this.ran++;
    if (us <= this.p99Us) return;
    this.slow++;
    if (this.ran >= LEAST_RUNS && this.slow * 100 > this.ran)
      this.why(`p99 of statements above ${this.p99Us / 1000} ms`);
  }

  /** A result of SQLite. @returns whether it is an error */
  answer(rc: number, call: string): boolean {
    const code = rc & 255;
    if (code === 0 || code >= 100 || code === 27 || code === 28) return false;
    const name = `SQLITE_${PRIMARY[code] ?? code}`;
    this.error(name, call);
    if (code === 5) this.refused();
    if (code === 11 || code === 26) {
      this.malformed++;
      this.why(name);
    }
    if (code === 13) {
      this.full++;
      this.why(name);
    }
    return true;
  }
  private refused(): void {
    const now = performance.now();
    this.burst = now - this.busyAt <= BUSY_BURST.apartMs ? this.burst + 1 : 1;
    this.busyAt = now;
    this.busy++;
    if (this.burst === BUSY_BURST.tries) this.inBursts += this.burst;
    else if (this.burst > BUSY_BURST.tries) this.inBursts++;
  }
  /** The engine retries a call that returned SQLITE_BUSY: the app didn't see it. */
  handled(call: string): void {
    const key = `${BUSY}\0${call}`;
    const left = (this.errors.get(key) ?? 1) - 1;
    if (left) this.errors.set(key, left);
    else this.errors.delete(key);
    this.busy--;
    if (this.burst === BUSY_BURST.tries) this.inBursts -= this.burst;
    else if (this.burst > BUSY_BURST.tries) this.inBursts--;
    this.burst--;
  }
  /** @param name of the exception or of the code */
  error(name: string, call: string): void {
    const key = `${name}\0${call}`;
    if (this.errors.has(key) || this.errors.size < MOST_ERRORS)
      this.errors.set(key, (this.errors.get(key) ?? 0) + 1);
    if (name === 'QuotaExceededError') {
      this.full++;
      this.why(name);
    }
  }
  /** A lock request that took very long, or hasn't ended. */
  hang(call: string): void {
    this.hangs++;
    this.why(`hang: ${call}`);
  }
  /** Any other call that took very long. Only its trace shows what it waited for. */
  tookLong(call: string): void {
    this.why(`slow call: ${call}`);
  }
  stores(on: string): void {
    this.storages.add(on);
  }

  /** At most MOST_REPORT_BYTES of JSON. */
  report(about: Pick<FieldReport, 'weight' | 'labels' | 'trace'>, texts: boolean): FieldReport {
    const all = [...this.statements.values(), this.others].filter(({ runs }) => runs.count);
    all.sort((a, b) => b.runs.sumUs - a.runs.sumUs);
    const prepared = [...this.statements.values()].filter(
      ({ prepares }) => prepares > PREPARED_AGAIN,
    ).length;
    const findings: [string, number][] = [
      [FIELD_RULES.hang, this.hangs],
      [FIELD_RULES.busy, this.inBursts],
      [FIELD_RULES.malformed, this.malformed],
      [FIELD_RULES.quota, this.full],
      [FIELD_RULES.prepared, prepared],
    ];
    const { origin = '' } = location;
    const report = {
      vfscope: REPORT_FORMAT,
      id: crypto.getRandomValues(new Uint32Array(4)).reduce((id, n) => id + n.toString(36), ''),
      at: Math.round(this.at),
      ms: Math.round(performance.timeOrigin + performance.now() - this.at),
      ...about,
      labels: fitting(about.labels),
      origin: origin.slice(0, MOST_ORIGIN),
      agent: navigator.userAgent.slice(0, 300),
      engine: this.engine,
      sqlite: this.sqlite,
      storage: [...this.storages].sort().join('+') || 'memory',
      statements: [] as StatementReport[],
      runs: all.reduce((n, { runs }) => n + runs.count, 0),
      failed: all.reduce((n, { failed }) => n + failed, 0),
      syncs: this.syncs.histogram(),
      locks: this.locks.histogram(),
      lockUs: Math.round(this.locks.sumUs),
      busy: this.busy,
      errors: Array.from(this.errors, ([key, n]): [string, string, number] => {
        const [name = '', call = ''] = key.split('\0');
        return [name.slice(0, 80), call, n];
      }),
      findings: findings.filter(([, n]) => n),
      faults: this.faults,
    } satisfies FieldReport;
    const { labels, errors, statements } = report;
    let room = MOST_REPORT_BYTES - bytesOf(report);
    while (room < 0 && errors.length) room += bytesOf(errors.pop());
    for (const name of Object.keys(labels).reverse()) {
      if (room >= 0) break;
      room += bytesOf({ [name]: labels[name] }) - 2; // braces
      Reflect.deleteProperty(labels, name);
    }
    for (const { text, runs, failed } of all) {
      const statement: StatementReport = {
        text: texts ? text.replace(/\s+/g, ' ').slice(0, MOST_TEXT) : '',
        hash: hashOf(text),
        runs: runs.count,
        us: Math.round(runs.sumUs),
        failed,
        histogram: runs.histogram(),
      };
      room -= bytesOf(statement) + 1; // a comma
      if (room < 0) break;
      statements.push(statement);
    }
    return report;
  }
}

const utf8 = new TextEncoder();
const bytesOf = (value: unknown): number => utf8.encode(JSON.stringify(value)).length;

/**
 * An app's labels can have any length, such as URLs or users' names. `fleet add` accepts only valid
 * reports, and errors and statements need space, too. Labels that don't fit are dropped.
 */
function fitting(labels: FieldReport['labels']): Record<string, string> {
  let room = MOST_LABELS_BYTES;
  return Object.fromEntries(
    Object.entries(labels)
      .slice(0, MOST_LABELS)
      .map(([name, text]) => [name.slice(0, MOST_LABEL_NAME), String(text).slice(0, MOST_LABEL)])
      .filter(([name, text]) => {
        const bytes = bytesOf({ [name!]: text });
        if (bytes > room) return false;
        room -= bytes;
        return true;
      }),
  );
}

/** FNV-1a. */
function hashOf(text: string): string {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return (hash >>> 0).toString(16).padStart(8, '0');
}
