/**
 * The Query view's state, which survives switching tabs: the text, the current run, the last
 * result. One per viewer.
 */
import { get } from 'svelte/store';
import type { ViewerModel } from '../../model.ts';
import type { SqlAnswer } from '../../../../protocol/answers/sql.ts';
import { perModel } from '../../per-model.ts';
import { viewStateOf } from '../../view-state.ts';
import { EXAMPLES } from './examples.ts';

/** The arguments of the last result. */
interface ShownResult extends SqlAnswer {
  sql: string;
}
export const LIMITS_MS = [5_000, 20_000, 120_000] as const;

class SqlState {
  /** The query in the editor. */
  text = $state('');
  result = $state.raw<ShownResult | null>(null);
  error = $state<string | null>(null);
  /** Number of the current run; null = none. */
  running = $state<number | null>(null);
  maxMs = $state<number>(LIMITS_MS[1]);
  chart = $state<'table' | 'bars' | 'line'>('table');
  private stop: Int32Array | null = null;
  private lastId = 0;

  constructor(private readonly model: ViewerModel) {
    this.text = get(viewStateOf(model).texts)['sql.query'] ?? EXAMPLES[0]!.sql;
    model.trace.subscribe(() => this.forget());
  }
  /** The answer belongs to a trace that isn't on screen any more. */
  private forget(): void {
    this.cancel();
    this.result = this.error = null;
  }
  /** The editor's text has changed: it is stored with the views' settings. */
  edit(text: string): void {
    this.text = text;
    viewStateOf(this.model).set('sql.query', text === EXAMPLES[0]!.sql ? null : text);
  }

  async run(sql: string): Promise<void> {
    if (this.running !== null || !sql.trim()) return;
    await this.attempt(async (request, isOver) => {
      const answer = await this.model.session.query('sqlRun', { ...request, sql });
      if (isOver()) return;
      this.result = { ...answer, sql };
      await this.remember(sql);
    });
  }
  /** All rows of a query as a file. */
  async saveCsv(sql: string): Promise<void> {
    await this.attempt(async (request) => {
      await this.model.host.saveFile(
        'query.csv',
        await this.model.session.query('sqlCsv', { ...request, sql }),
      );
    });
  }
  private async attempt(
    act: (
      request: { id: number; maxMs: number; stop: Int32Array | null },
      isOver: () => boolean,
    ) => Promise<void>,
  ): Promise<void> {
    const trace = get(this.model.trace);
    const isOver = (): boolean => trace !== get(this.model.trace);
    this.running = ++this.lastId;
    this.error = null;
    // shared memory signals a worker that is busy inside SQLite; without isolation, the time limit
    // stops it
    this.stop = crossOriginIsolated ? new Int32Array(new SharedArrayBuffer(4)) : null;
    try {
      await act({ id: this.running, maxMs: this.maxMs, stop: this.stop }, isOver);
    } catch (e) {
      if (!isOver()) this.error = e instanceof Error ? e.message : String(e);
    }
    this.running = this.stop = null;
  }
  cancel(): void {
    if (this.running === null) return;
    if (this.stop) Atomics.store(this.stop, 0, 1);
    void this.model.attempt(
      async () => void (await this.model.session.query('sqlCancel', { id: this.running! })),
    );
  }

  private async remember(sql: string): Promise<void> {
    const { settings } = this.model;
    const text = sql.trim();
    await settings.change({
      sqlHistory: [text, ...get(settings.values).sqlHistory.filter((known) => known !== text)],
    });
  }
}

export const sqlStateOf = perModel((model: ViewerModel) => new SqlState(model));
