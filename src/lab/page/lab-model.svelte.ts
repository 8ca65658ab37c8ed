/** The state and actions of the Lab's page: the choices, the queue of runs, and the open trace. */
import { modeWith, type FaultSettings } from '../experiments/model/faults.ts';
import { experimentOn, ownOn, settingsFor, type TriedOn } from '../experiments/tried-on.ts';
import { headings, type Knob } from '../experiments/model/knobs.ts';
import { resultOfPasses } from '../experiments/passes.ts';
import type {
  Config,
  Experiment,
  Mode,
  Run,
  VfsName,
  Workload,
} from '../experiments/model/types.ts';
import type { RunResult } from '../experiments/model/result-types.ts';
import { workloadOf } from '../experiments/workloads/index.ts';
import type { PageDatabase, PageDatabases } from '../../protocol/page-copy.ts';
import type { AsRecorded } from '../as-recorded/as-recorded.ts';
import { pragmaWords } from '../as-recorded/settings.ts';
import { AdviceModel } from './advice-model.svelte.ts';
import { Canceled, type Bench } from './bench.ts';
import {
  EXPERIMENT_OFFERS,
  offerFor,
  placedOffer,
  WORKLOAD_OFFERS,
  type Offer,
  type PlacedOffer,
} from './catalog.ts';
import {
  runsOfExperiment,
  runsOfGrid,
  runsOfRecorded,
  withEngineFile,
  type Choices,
  type OwnInput,
  type ParameterChoices,
} from './grid.ts';
import { starterScript, type DatabaseFacts } from './database-file.ts';
import { hasSiteAccess, requestSiteAccess } from '../../platform/site-access.ts';
import { siteName } from '../../viewer/ui/site-name.ts';
import { copyFrom, databasesOf } from '../../page-copy/copy.ts';
import type { PlanRow } from '../experiments/engine/plan.ts';
import { ReplayModel, type Replayed } from './replay-model.svelte.ts';
import { outcomeOnPage, saveOutcome, withoutFiles, type SavedAs } from './results-file.ts';
import { CrashModel } from './crash-model.svelte.ts';
import { DiffModel, type Side } from './diff-model.svelte.ts';
import { EngineFiles } from './engine-files.svelte.ts';
import { QuestionsModel } from './questions-model.svelte.ts';
import { RunQueue, type QueuedRun } from './run-queue.ts';
import {
  filesOf,
  UnfinishedStore,
  type FileOfRuns,
  type UnfinishedRuns,
} from './unfinished.svelte.ts';

/** A run as its column shows it. */
export interface Column {
  heading: string;
  item: QueuedRun;
}
/** A trace in the viewer over the Lab, and one to compare it with. */
interface ShownTrace {
  file: Blob;
  name: string;
  other?: { file: Blob; name: string };
}
const FIRST_SQL =
  "CREATE TABLE t(a INTEGER PRIMARY KEY, b TEXT);\nWITH RECURSIVE n(x) AS (VALUES(1) UNION ALL SELECT x+1 FROM n WHERE x<5000)\n  INSERT INTO t SELECT x, 'row '||x FROM n;\n-- step read\nSELECT count(*), max(b) FROM t;\n";
const OWN_DATABASE = WORKLOAD_OFFERS.find(({ id }) => id === 'own-database')!;
const OWN_SQL = WORKLOAD_OFFERS.find(({ id }) => id === 'own-sql')!;
const withSettings = (experiment: Experiment, settings: Partial<Config>): Experiment => ({
  ...experiment,
  variants: experiment.variants.map((variant) => ({
    ...variant,
    config: { ...settings, ...variant.config },
  })),
});
const offerOf = (id: string): Offer | undefined =>
  offerFor(id) ?? WORKLOAD_OFFERS.find((offer) => offer.id === id);
const words = (error: unknown): string => (error instanceof Error ? error.message : String(error));

export class LabModel {
  /**
   * The content of the main part: the questions, an offer's runs, the replay of a recording, or two
   * results side by side.
   */
  place = $state<'questions' | 'runs' | 'replay' | 'diff'>('questions');
  readonly questions: QuestionsModel;
  readonly diff = new DiffModel();
  readonly replay: ReplayModel;
  readonly advisor: AdviceModel;
  readonly engines: EngineFiles;
  offer = $state.raw<Offer>(EXPERIMENT_OFFERS[0] ?? WORKLOAD_OFFERS[0]!);
  mode = $state<Mode>('count');
  /** For count mode: also loads and stores. */
  memory = $state(false);
  choices = $state.raw<Choices>({});
  /** For the offered workload. Others have different ones. */
  parameterChoices = $state.raw<ParameterChoices>({});
  /** VFSs of an experiment; none = its own. At most one where each variant has its own. */
  experimentVfs = $state.raw<readonly VfsName[]>([]);
  /** What *Try it* took from the recording, and what it couldn't take: sentences. */
  tried = $state.raw<readonly string[]>([]);
  /** Time an experiment of counts: *Try it* shows both. */
  timed = $state(false);
  /** Settings of the recording, overridden by those of an experiment. */
  private recordedConfig = $state.raw<Partial<Config>>({});
  /** The recording's own statements both ways, until the user changes the script or a setting. */
  private tryRuns = $state.raw<{ sql: string; runs: { run: Run; heading: string }[] } | null>(null);
  /** The last use of *Try it*; `on`: the copy of the user's database that it ran on. */
  trying = $state.raw<{ offer: Offer; rule: string; on: string | null } | null>(null);
  /** A fault profile for an experiment, one value for each setting. */
  experimentFaults = $state.raw<FaultSettings>({});
  sql = $state(FIRST_SQL);
  /** A copy of the user's database, for the script. */
  database = $state.raw<(DatabaseFacts & { name: string; from: string }) | null>(null);
  /** The tab whose page's databases can be copied, if the Lab was opened from a panel. */
  pageTab = $state<number | null>(null);
  /** Its origin, if we have no access to it; '' = we have access, or it isn't known. */
  pageWithheld = $state('');
  page = $state.raw<PageDatabases | null>(null);
  plan = $state.raw<PlanRow[] | null>(null);
  /** The error of the last action. */
  error = $state('');
  busy = $state('');
  /** `busy` is work in the Lab's worker that *Cancel* ends. */
  inWorker = $state(false);
  columns = $state.raw<Column[]>([]);
  running = $state(false);
  canResume = $state(false);
  progress = $state.raw({ done: 0, all: 0 });
  trace = $state.raw<ShownTrace | null>(null);
  /** The runs of the shown columns. */
  shown = $state.raw<{ offer: PlacedOffer; mode: Mode } | null>(null);
  /**
   * User files behind the shown results that a closed tab didn't save: these runs can't run again.
   */
  missing = $state.raw<readonly FileOfRuns[]>([]);
  /** The shown runs again, by function; [] where this wasn't requested. */
  byFunction = $state.raw<(RunResult | null)[]>([]);
  readonly unfinished = new UnfinishedStore();
  private queue: RunQueue | null = null;
  /** The script of `queue` contains values of the database's rows. */
  private ofRows = false;

  constructor(private readonly bench: Bench) {
    const say = (what: string): void => void (this.busy = what);
    this.replay = new ReplayModel(bench, this.unfinished, say);
    this.engines = new EngineFiles(bench);
    this.advisor = new AdviceModel(bench, this.unfinished, say);
    this.questions = new QuestionsModel(this, new CrashModel(bench, this.unfinished, say));
  }

  readonly own = $derived<OwnInput>(
    this.offer.id === 'own-database' && this.database
      ? { sql: this.sql, database: { name: this.database.name, file: this.database.file } }
      : /^own-/.test(this.offer.id)
        ? { sql: this.sql }
        : {},
  );
  readonly workload = $derived<Workload | null>(
    this.offer.kind === 'experiment'
      ? null
      : /^own-/.test(this.offer.id)
        ? workloadOf(this.offer.id, this.sql)
        : this.offer.workload,
  );
  /** An experiment sets its own mode. */
  readonly effectiveMode = $derived<Mode>(
    this.offer.kind === 'experiment'
      ? modeWith(this.timed ? 'time' : this.offer.experiment.mode, this.experimentFaults)
      : this.mode,
  );
  /** The offer on the chosen VFSs. */
  readonly placed = $derived<PlacedOffer>(
    placedOffer(this.offer, this.experimentVfs, this.experimentFaults),
  );
  readonly runs = $derived.by<{ run: Run; heading: string }[]>(() =>
    this.effectiveMode === 'count' && this.memory
      ? this.plainRuns.map(({ run, heading }) => ({ run: { ...run, memory: true }, heading }))
      : this.plainRuns,
  );
  private readonly plainRuns = $derived.by<{ run: Run; heading: string }[]>(() => {
    const offer = this.placed;
    if (this.trial) return this.trial;
    if (offer.kind === 'experiment')
      return runsOfExperiment(
        withSettings({ ...offer.experiment, mode: this.effectiveMode }, this.recordedConfig),
        this.engines.ofExperiments,
        this.experimentFaults,
      ).map(({ title, run }) => ({
        run: withEngineFile(run, this.engines.all),
        heading: title,
      }));
    if (offer.id === 'own-database' && !this.database) return [];
    const runs = runsOfGrid(
      this.workload!,
      this.choices,
      this.mode,
      this.own,
      this.parameterChoices,
    );
    const names = headings(runs);
    return runs.map((run, i) => ({
      run: withEngineFile(run, this.engines.all),
      heading: names[i]!,
    }));
  });

  /** The runs of *Try it*, while they are chosen. */
  readonly trial = $derived(
    this.tryRuns?.sql === this.sql && /^own-/.test(this.offer.id) ? this.tryRuns.runs : null,
  );

  choose(offer: Offer): void {
    if (offer.id !== this.offer.id || this.place === 'questions') this.begin();
    this.offer = offer;
    this.place = 'runs';
    this.error = '';
  }

  /** Clears the choices for an offer. */
  private begin(): void {
    this.recordedConfig = {};
    this.endTrial();
    this.parameterChoices = {};
    this.experimentVfs = [];
    this.experimentFaults = {};
    this.timed = false;
  }

  toggle(key: Knob['key'], value: string | number | null): void {
    const chosen = this.choices[key] ?? [];
    const next = chosen.includes(value) ? chosen.filter((v) => v !== value) : [...chosen, value];
    this.choices = { ...this.choices, [key]: next };
    this.endTrial();
  }
  /** @param one at most one value */
  toggleExperimentVfs(vfs: VfsName, one: boolean): void {
    const chosen = this.experimentVfs;
    this.experimentVfs = chosen.includes(vfs)
      ? chosen.filter((v) => v !== vfs)
      : [...(one ? [] : chosen), vfs];
  }
  /** @param value null: no fault */
  setFault(key: keyof FaultSettings, value: number | null): void {
    this.experimentFaults = { ...this.experimentFaults, [key]: value };
  }
  toggleParameter(name: string, value: number): void {
    const chosen = this.parameterChoices[name] ?? [];
    const next = chosen.includes(value)
      ? chosen.filter((v) => v !== value)
      : [...chosen, value].sort((a, b) => a - b);
    this.parameterChoices = { ...this.parameterChoices, [name]: next };
    this.endTrial();
  }
  /** The next run no longer matches the text of *Try it*. */
  private endTrial(): void {
    this.tryRuns = null;
    this.tried = [];
  }

  async run(): Promise<void> {
    if (this.tryRuns && !this.trial) this.endTrial(); // the user edited the script
    const { runs } = this;
    this.showRuns();
    this.error = '';
    const queue = new RunQueue(
      this.bench,
      runs.map(({ run }) => run),
      () =>
        this.show(
          queue,
          runs.map(({ heading }) => heading),
        ),
    );
    this.queue = queue;
    this.ofRows = this.trial !== null && this.database !== null;
    this.shown = { offer: this.placed, mode: this.effectiveMode };
    this.missing = [];
    this.byFunction = [];
    await this.go(queue);
  }
  /**
   * Tries a finding's advice: the recording's own statements with its settings on its VFS, as
   * recorded and with the advice. Where they can't run, runs the experiment's statements.
   * @param rule of the finding; '' = not known
   */
  async tryIt(offer: Offer, rule: string): Promise<void> {
    this.choose(offer);
    await this.replay.takeFromPanel();
    await this.tryAgain(offer, rule);
  }
  /** The same with the copy of a database, once it has arrived. */
  async tryAgain(offer: Offer, rule: string): Promise<void> {
    if (offer.kind !== 'experiment') return this.run();
    const { experiment } = offer;
    const { recording } = this.replay;
    const { database } = this;
    const recorded = recording?.facts.recordedVfs ?? null;
    this.trying = { offer, rule, on: database?.name ?? null };
    const own = recorded && ownOn(recorded, database !== null);
    const asked: { found: AsRecorded | null } = { found: null };
    const completed =
      !recording ||
      !own ||
      (await this.attemptInWorker("Trying your app's statements", async () => {
        asked.found = await this.bench.asRecorded(recording.file, {
          experiment: experiment.id,
          rule,
          vfs: own.vfs,
          database: database && { name: database.name, file: database.file },
        });
      }));
    if (!completed) return;
    const { found } = asked;
    if (found?.own && own) this.takeOwn(found, found.own, own);
    else this.takeExperiment(offer, experiment, found);
    await this.run();
  }
  private takeExperiment(offer: Offer, experiment: Experiment, found: AsRecorded | null): void {
    this.choose(offer);
    const { vfs, says } = experimentOn(
      experiment,
      this.replay.recording?.facts.recordedVfs ?? null,
    );
    this.experimentVfs = vfs === null ? [] : [vfs];
    this.timed = true;
    this.recordedConfig = settingsFor(experiment, found?.config ?? {});
    const pragmas = pragmaWords(this.recordedConfig);
    this.tried = [
      ...says,
      ...(pragmas ? [`Pragmas that the experiment doesn't set are your app's: ${pragmas}.`] : []),
      `Statements${pragmas ? '' : ' and pragmas'} are the experiment's, not your app's.`,
      ...(found ? [found.why] : []),
    ];
  }
  private takeOwn(
    { config, notes }: AsRecorded,
    own: NonNullable<AsRecorded['own']>,
    on: TriedOn,
  ): void {
    const { database } = this;
    this.choose(database ? OWN_DATABASE : OWN_SQL);
    this.choices = {};
    this.mode = 'time';
    this.sql = own.sql;
    const runs = runsOfRecorded(
      own,
      on.vfs === null ? config : { ...config, vfs: on.vfs },
      database ? { name: database.name, file: database.file } : undefined,
    );
    this.tryRuns = { sql: own.sql, runs };
    const pragmas = pragmaWords(config);
    this.tried = [
      ...on.says,
      pragmas
        ? `Pragmas are your app's: ${pragmas}.`
        : "No pragma of your app was recorded, so this runs with the build's defaults.",
      ...notes,
      ...own.says,
    ];
  }
  /**
   * Stores each pass, so that a closed tab loses at most one. For the user's files (a database or
   * an engine), it stores name and size. It stores nothing of *Try it* on a database, because its
   * script contains values of rows.
   */
  private async go(queue: RunQueue): Promise<void> {
    const work = (): Promise<boolean> => queue.go().then(() => !queue.canResume);
    await (this.ofRows ? work() : this.unfinished.during(work));
    this.questions.take();
  }
  /** Shows what a closed tab left, and can run the rest. */
  showUnfinished(): void {
    const found = this.unfinished.take();
    if (found?.kind === 'runs') this.showRunsOf(found);
    else if (found?.kind === 'replay') {
      this.place = 'replay';
      this.replay.show(found);
    } else if (found?.kind === 'advice') {
      this.choose(OWN_DATABASE);
      this.advisor.show(found);
    } else if (found) {
      this.place = 'questions';
      this.questions.showCrash(found);
    }
  }
  private showRunsOf(unfinished: UnfinishedRuns): void {
    const offer = offerOf(unfinished.offer);
    if (!offer) return;
    this.choose(offer);
    this.begin(); // the previous *Try it* doesn't belong to the shown results
    [this.experimentVfs, this.experimentFaults] = [unfinished.vfs, unfinished.faults];
    [this.mode, this.memory] = [unfinished.mode, unfinished.memory];
    [this.choices, this.parameterChoices] = [unfinished.choices, unfinished.parameters];
    const { sql } = unfinished.runs[0]?.run ?? {};
    if (sql !== undefined) this.sql = sql;
    const queue = new RunQueue(
      this.bench,
      unfinished.runs.map(({ run }) => run),
      () => this.show(queue, unfinished.headings),
      unfinished,
    );
    this.queue = queue;
    this.shown = { offer: this.placed, mode: unfinished.mode };
    this.missing = unfinished.files;
    this.ofRows = false;
    this.byFunction = [];
    this.show(queue, unfinished.headings);
  }
  async cancel(): Promise<void> {
    await this.queue?.cancel();
  }
  async resume(): Promise<void> {
    this.showRuns();
    if (this.queue) await this.go(this.queue);
  }
  /** Shows the runs of a question. */
  private showRuns(): void {
    if (this.place !== 'questions') this.place = 'runs';
  }
  /** @returns a function that shows the current results again */
  keepShown(): () => void {
    const { queue, columns, shown, offer } = this;
    return () => {
      this.choose(offer);
      [this.queue, this.columns, this.shown, this.byFunction] = [queue, columns, shown, []];
      [this.missing, this.ofRows] = [[], false];
      [this.canResume, this.running] = [false, false];
    };
  }

  /** @returns why it can't be left out; '' where it can */
  leaveOut(index: number, pass: number, reason: string): string {
    const before = this.queue?.items[index]?.result?.leftOut ?? [];
    try {
      this.queue?.leaveOut(index, [...before, { pass, reason }]);
      return '';
    } catch (error) {
      return words(error);
    }
  }
  takeIn(index: number, pass: number): void {
    const before = this.queue?.items[index]?.result?.leftOut ?? [];
    this.queue?.leaveOut(
      index,
      before.filter((out) => out.pass !== pass),
    );
  }
  /** Counts the shown runs again by function. */
  async countFunctions(): Promise<void> {
    const { columns } = this;
    await this.attempt('Counting function by function', async () => {
      const results: (RunResult | null)[] = [];
      for (const { item } of columns) {
        const run: Run = { ...item.run, functions: true, readBack: false, repeats: 1 };
        const taken = item.result && (await this.bench.sample(run));
        results.push(taken && resultOfPasses(run, [taken.sample], taken.environment));
      }
      if (columns.length === this.columns.length) this.byFunction = results;
    });
  }
  saveResults(as: SavedAs): void {
    if (!this.shown) return;
    const { offer } = this.shown;
    saveOutcome(offer.id, as, outcomeOnPage(offer, this.columns));
  }
  /** Shown results that can be one side of a comparison. */
  get canCompareShown(): boolean {
    return !this.running && this.columns.some(({ item }) => item.result !== null);
  }
  compareShown(side: Side): void {
    if (this.shown)
      this.diff.set(side, 'the results on show', outcomeOnPage(this.shown.offer, this.columns));
  }

  private show(queue: RunQueue, names: readonly string[]): void {
    if (queue !== this.queue) return;
    this.columns = queue.items.map((item, i) => ({ heading: names[i]!, item: { ...item } }));
    this.running = queue.running;
    this.canResume = queue.canResume && this.missing.length === 0;
    this.progress = queue.progress;
    const { environment } = queue;
    if (this.shown && environment)
      this.unfinished.save({
        kind: 'runs',
        offer: this.shown.offer.id,
        vfs: this.experimentVfs,
        faults: this.experimentFaults,
        choices: this.choicesWithoutFiles,
        parameters: this.parameterChoices,
        memory: this.memory,
        files: this.missing.length ? this.missing : filesOf(queue.items.map(({ run }) => run)),
        mode: this.shown.mode,
        headings: names,
        environment,
        runs: queue.items.map(({ run, samples, message }) => ({
          run: withoutFiles(run),
          samples,
          message,
        })),
      });
  }

  private get choicesWithoutFiles(): Choices {
    const { engine, ...choices } = this.choices;
    const left = engine?.filter((name) => !this.engines.all.some((own) => own.name === name));
    return left?.length ? { ...choices, engine: left } : choices;
  }

  async openTrace({ item, heading }: Column): Promise<void> {
    await this.attempt('Running it again, with every layer recorded', async () => {
      this.trace = {
        file: await this.bench.traced(item.run),
        name: `${item.run.workload}, ${heading}`,
      };
    });
  }
  /** Sends the shown trace to the replay box. */
  async replayTrace(): Promise<void> {
    const { trace } = this;
    if (!trace) return;
    this.trace = null;
    this.place = 'replay';
    await this.replay.take(trace.file, trace.name, 'a run of the Lab');
  }
  /** The recording as A, a replay of it as B. */
  compareReplay({ heading, trace }: Replayed): void {
    const { recording } = this.replay;
    if (recording && trace)
      this.trace = {
        file: recording.file,
        name: recording.name,
        other: { file: trace, name: `replayed on ${heading}` },
      };
  }
  async explain(): Promise<void> {
    await this.attemptInWorker('Asking for the query plans', async () => {
      this.plan = await this.bench.plan(this.ownFile, this.sql);
    });
  }
  async takeFile(file: File): Promise<void> {
    await this.attemptInWorker(`Reading ${file.name}`, async () => {
      if (/\.wasm$/i.test(file.name)) await this.takeEngine(file);
      else if (/\.vfst$/i.test(file.name)) await this.takeRecording(file);
      else if (/\.(?:sql|txt)$/i.test(file.name)) this.sql = await file.text();
      else await this.takeDatabase(file.name, 'a file', file, null);
    });
  }

  /** A workload's grid and experiments have it preselected. */
  private async takeEngine(file: File): Promise<void> {
    const { name } = await this.engines.take(file);
    if (this.place !== 'runs') this.place = 'runs';
    if (this.offer.kind === 'experiment') this.engines.ofExperiments = name;
    else if (!this.choices.engine?.includes(name)) this.toggle('engine', name);
  }
  forgetEngine(name: string): void {
    this.engines.forget(name);
    if (this.choices.engine?.includes(name)) this.toggle('engine', name);
  }

  /**
   * Opened from a panel: finds the databases that its page stores. Reads names, sizes, and headers.
   */
  async lookAtPage(tabId: number, origin = ''): Promise<void> {
    this.pageTab = tabId;
    this.choose(OWN_DATABASE);
    await this.attempt('Looking at what the page stores', async () => {
      this.pageWithheld = origin && !(await hasSiteAccess(origin)) ? origin : '';
      if (this.pageWithheld) return;
      this.page = await databasesOf(tabId);
    });
  }
  /** Inside a click: ask for access to the page. */
  async allowPage(): Promise<void> {
    const origin = this.pageWithheld;
    // at once: later, the browser doesn't count it as part of the click
    const answer = requestSiteAccess([origin]);
    await this.attempt('Waiting for your answer', async () => {
      if (!(await answer))
        throw new Error(
          `You didn't allow access to ${siteName(origin)}, so its databases can't be copied.`,
        );
    });
    if (!this.error) await this.lookAtPage(this.pageTab!, origin);
  }
  async copyFromPage(database: PageDatabase): Promise<void> {
    await this.attempt(`Copying ${database.name}`, async () => {
      const { main, wal } = await copyFrom(this.pageTab!, database);
      await this.takeDatabase(database.name, this.page?.origin ?? 'the page', main, wal);
    });
  }
  private async takeDatabase(
    name: string,
    from: string,
    main: Blob,
    wal: Blob | null,
  ): Promise<void> {
    const facts = await this.bench.take(main, wal);
    if (this.sql === FIRST_SQL) this.sql = starterScript(facts.tables);
    this.database = { ...facts, name, from };
    this.plan = null;
    this.advisor.forget();
    this.endTrial();
    this.choose(OWN_DATABASE);
  }
  /** Its statements' plans are shown immediately. */
  private async takeRecording(file: File): Promise<void> {
    this.plan = await this.bench.plan(this.ownFile, file);
    this.advisor.forget();
    this.advisor.recording = { name: file.name, file };
  }
  private get ownFile(): Blob | null {
    return this.own.database?.file ?? null;
  }

  /** @returns false: it failed, with the error shown, or was canceled */
  private async attempt(what: string, work: () => Promise<void>): Promise<boolean> {
    this.busy = what;
    this.error = '';
    try {
      await work();
      return true;
    } catch (error) {
      if (!(error instanceof Canceled)) this.error = words(error);
      return false;
    } finally {
      this.busy = '';
    }
  }
  /** The same in the Lab's worker, which the user's files may hang. It can be canceled. */
  private async attemptInWorker(what: string, work: () => Promise<void>): Promise<boolean> {
    this.inWorker = true;
    const completed = await this.attempt(what, work);
    this.inWorker = false;
    return completed;
  }
  /** Cancels the work that `attemptInWorker` waits for. */
  async giveUp(): Promise<void> {
    await this.bench.cancel();
  }
}
