/**
 * The schema of the page's database, read when the user clicks: a copy goes to the worker, which
 * reads its schema and statistics.
 */
import { databaseName } from '../../../../event/file-names.ts';
import type { PageDatabase, PageDatabases } from '../../../../protocol/page-copy.ts';
import type { ViewerModel } from '../../model.ts';
import { perModel } from '../../per-model.ts';

const words = (e: unknown): string => (e instanceof Error ? e.message : String(e));
const fileName = (path: string): string => databaseName(path).split('/').at(-1)!;

class PageSchema {
  /** Number of schemas read: a new one makes plans again. */
  count = $state(0);
  busy = $state(false);
  error = $state('');
  /** Databases that the user has to choose from; null = none. */
  found = $state.raw<PageDatabases | null>(null);

  constructor(private readonly model: ViewerModel) {}

  get canRead(): boolean {
    return this.model.host.recorder?.databases !== undefined;
  }

  /** @param recorded name of the statements' database; null = not known */
  read(recorded: string | null): Promise<void> {
    return this.during(async () => {
      const found = await this.model.host.recorder!.databases!.list();
      const readable = found.databases.filter(({ cause }) => cause === '');
      const same =
        recorded === null
          ? readable
          : readable.filter(({ name }) => fileName(name) === fileName(recorded));
      if (same.length === 1) await this.take(same[0]!, found.origin, recorded);
      else if (found.databases.length === 0)
        throw new Error(
          ['This page stores no SQLite database that vfscope finds.', ...found.failures].join(' '),
        );
      else this.found = found;
    });
  }
  /** Use one of the databases found. */
  choose(database: PageDatabase, recorded: string | null): Promise<void> {
    const { origin } = this.found!;
    return this.during(() => this.take(database, origin, recorded));
  }

  private async take(
    database: PageDatabase,
    origin: string,
    recorded: string | null,
  ): Promise<void> {
    const copy = await this.model.host.recorder!.databases!.copy(database);
    await this.model.session.query('readSchema', {
      ...{ database: database.name, origin, recorded },
      ...copy,
    });
    this.count++;
  }
  private async during(work: () => Promise<void>): Promise<void> {
    if (this.busy) return;
    this.busy = true;
    this.error = '';
    this.found = null;
    try {
      await work();
    } catch (e) {
      this.error = words(e);
    }
    this.busy = false;
  }
}

export const pageSchema = perModel((model: ViewerModel) => new PageSchema(model));
