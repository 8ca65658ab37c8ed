/** Builds of SQLite that the user has opened on the page, and the chosen one for experiments. */
import type { EngineFacts } from '../experiments/model/environment-types.ts';
import type { EngineBuild, EngineFile } from '../experiments/model/types.ts';
import type { Bench } from './bench.ts';

export type TakenEngine = EngineFile & { readonly facts: EngineFacts };

const MOST_CHARACTERS = 60;
/** The name of a file as a word of a command line for the user to copy. */
const nameOf = (file: string): EngineFile['name'] => {
  const stem = file.replace(/\.wasm$/i, '').replace(/[^\w.+-]/g, '_');
  return `${stem.slice(0, MOST_CHARACTERS) || 'sqlite3'}.wasm`;
};

export class EngineFiles {
  all = $state.raw<readonly TakenEngine[]>([]);
  /** The engine for experiments; null = each uses its own. */
  ofExperiments = $state.raw<EngineBuild | null>(null);

  constructor(private readonly bench: Bench) {}

  /**
   * A file replaces the previous one with the same name.
   * @throws Error with a message for the user where it can't run
   */
  async take(file: File): Promise<TakenEngine> {
    const engine: EngineFile = { name: nameOf(file.name), file };
    const taken = { ...engine, facts: await this.bench.takeEngine(engine) };
    this.all = [...this.all.filter(({ name }) => name !== taken.name), taken];
    return taken;
  }
  forget(name: string): void {
    this.all = this.all.filter((engine) => engine.name !== name);
    if (this.ofExperiments === name) this.ofExperiments = null;
  }
}
