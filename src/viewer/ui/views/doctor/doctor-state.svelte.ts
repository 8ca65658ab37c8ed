/**
 * What Doctor knows about the inspected page, and the copy that the user has opened. Each look
 * replaces the previous one; ages of locks continue.
 */
import { doctorOf, type Doctor } from '../../../../doctor/doctor.ts';
import { LockWatch, type SeenLock } from '../../../../doctor/lock-watch.ts';
import type { CopiedRows, CopiedSchema } from '../../../../plan/read-rows.ts';
import type { PageDatabase } from '../../../../protocol/page-copy.ts';
import type { PageLook } from '../../../../protocol/page-look.ts';
import type { PageState } from '../../../../protocol/page-state.ts';
import type { ViewerModel } from '../../model.ts';
import { perModel } from '../../per-model.ts';

/** Interval between looks at locks and quota. */
export const EVERY_MS = 1000;

const words = (e: unknown): string => (e instanceof Error ? e.message : String(e));

/** An open copy. Its rows are in this panel's memory until it is closed. */
interface OpenCopy {
  database: PageDatabase;
  main: Blob;
  wal: Blob | null;
  schema: CopiedSchema;
}

export class DoctorState {
  private look = $state.raw<PageLook | null>(null);
  private locks = $state.raw<readonly SeenLock[] | null>(null);
  error = $state('');
  busy = $state(false);
  private watch = new LockWatch(EVERY_MS);
  /** Requested while busy: the running look may be of the previous page. */
  private again = false;
  /** Increases whenever a page is dropped. */
  private page = 0;
  /** A look at locks is running. */
  private ticking = false;

  copy = $state.raw<OpenCopy | null>(null);
  copyError = $state('');
  copying = $state(false);
  table = $state('');
  rows = $state.raw<CopiedRows | null>(null);

  doctor = $derived<Doctor | null>(this.look && doctorOf(this.look, this.locks));

  constructor(private readonly model: ViewerModel) {}

  get host() {
    return this.model.host.recorder?.doctor;
  }
  /** For a row of `doctor.databases`: the page's entry; undefined = it can't be copied. */
  databaseAt(line: number): PageDatabase | undefined {
    const found = this.look?.databases.databases[line];
    return found?.cause === '' ? found : undefined;
  }

  /** Look at everything. */
  async refresh(): Promise<void> {
    this.again = true;
    if (this.busy || !this.host) return;
    this.busy = true;
    while (this.again) {
      this.again = false;
      try {
        const look = await this.host.look();
        if (look.state.origin !== this.look?.state.origin) this.forget();
        this.take(look.state, look);
        this.error = '';
      } catch (e) {
        this.forget();
        this.look = null;
        this.error = words(e);
      }
    }
    this.busy = false;
  }
  /** Look at locks and quota. If another page is shown then, look at everything. */
  async tick(): Promise<void> {
    const { look } = this;
    if (this.ticking || this.busy || !this.host || !look) return;
    this.ticking = true;
    try {
      const state = await this.host.state();
      if (state.origin !== look.state.origin) await this.refresh();
      else if (this.look === look) {
        this.take(state, look);
        this.error = '';
      }
    } catch (e) {
      this.error = words(e); // what was read stays
    }
    this.ticking = false;
  }
  private take(state: PageState, look: PageLook): void {
    this.locks = state.locks && this.watch.look(state.locks, performance.now());
    this.look = { ...look, state };
  }
  private forget(): void {
    this.watch = new LockWatch(EVERY_MS);
    this.page++;
    this.close();
  }

  /** Copy a database, and list what is in it. */
  async open(database: PageDatabase): Promise<void> {
    await this.during(async () => {
      this.close();
      const { page } = this;
      const { main, wal } = await this.model.host.recorder!.databases!.copy(database);
      const schema = await this.model.session.query('copyObjects', { main, wal });
      if (this.page === page) this.copy = { database, main, wal, schema };
    });
  }
  /** The first rows of a table of it. */
  async show(table: string): Promise<void> {
    const { copy } = this;
    if (!copy) return;
    await this.during(async () => {
      const { main, wal } = copy;
      const rows = await this.model.session.query('copyRows', { main, wal, table });
      if (this.copy === copy) [this.table, this.rows] = [table, rows];
    });
  }
  close(): void {
    [this.copy, this.rows, this.table, this.copyError] = [null, null, '', ''];
  }
  private async during(work: () => Promise<void>): Promise<void> {
    if (this.copying) return;
    this.copying = true;
    this.copyError = '';
    try {
      await work();
    } catch (e) {
      this.copyError = words(e);
    }
    this.copying = false;
  }
}

export const doctorState = perModel((model: ViewerModel) => new DoctorState(model));
