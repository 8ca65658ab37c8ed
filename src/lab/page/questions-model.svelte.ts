/** The questions on the Lab's first page: the current one, and the answers so far. */
import { answerOf, type Answer } from '../results/answers.ts';
import { expectText } from '../experiments/duration.ts';
import { placedOffer, QUESTION_OFFERS, type Offer, type PlacedOffer } from './catalog.ts';
import { experimentResultOf } from './compare.ts';
import type { CrashModel } from './crash-model.svelte.ts';
import { runsOfExperiment } from './grid.ts';
import type { QueuedRun } from './run-queue.ts';
import type { UnfinishedCrash } from './unfinished.svelte.ts';

export interface Question {
  readonly id: string;
  readonly title: string;
  /** How it is answered. */
  readonly what: string;
  /** Its experiment. null: the crash test answers it. */
  readonly offer: Offer | null;
  /** `Expect up to 2 min.` */
  readonly takes: string;
}
/** The parts of the Lab's model that it uses. */
interface Runs {
  place: string;
  readonly shown: { readonly offer: PlacedOffer } | null;
  readonly columns: readonly { readonly heading: string; readonly item: QueuedRun }[];
  readonly canResume: boolean;
  choose(offer: Offer): void;
  run(): Promise<void>;
  /** @returns a function that shows the current results again */
  keepShown(): () => void;
}
interface Answered {
  /** null: too little ran. */
  readonly answer: Answer | null;
  /** Variants that didn't run, and why. */
  readonly failures: readonly string[];
  /** Shows all numbers. */
  readonly showAll: () => void;
}

function asked(offer: Offer): string {
  const placed = placedOffer(offer, []);
  return placed.kind === 'experiment'
    ? expectText(runsOfExperiment(placed.experiment).map(({ run }) => run))
    : '';
}
const QUESTIONS = [
  {
    id: 'which-vfs',
    title: 'Which VFS suits my app?',
    what: 'Times small transactions on nine VFSs in this browser.',
  },
  {
    id: 'commit-cost',
    title: 'What does a commit cost?',
    what: 'Times transactions of 1 row and of 100 rows on four VFSs.',
  },
  {
    id: 'wal-worth',
    title: 'Is WAL worth it?',
    what: 'Times a rollback journal and WAL on OPFS and IndexedDB.',
  },
  {
    id: 'crash',
    title: 'Will I lose data?',
    what: 'Crashes SQLite after each storage call, and checks what is left.',
  },
] as const;

export class QuestionsModel {
  readonly all: readonly Question[];
  current = $state.raw<Question | null>(null);
  answers = $state.raw<ReadonlyMap<string, Answered>>(new Map());

  constructor(
    private readonly lab: Runs,
    readonly crash: CrashModel,
  ) {
    this.all = QUESTIONS.map((question) => {
      const offer = QUESTION_OFFERS.find(({ id }) => id === question.id) ?? null;
      return { ...question, offer, takes: offer ? asked(offer) : crash.takes };
    });
  }

  get answered(): Answered | null {
    return (this.current && this.answers.get(this.current.id)) ?? null;
  }
  /** The runs of the current question are running, or were canceled. */
  get ours(): boolean {
    return this.current?.offer != null && this.lab.shown?.offer.id === this.current.offer.id;
  }

  /** One click: shows an existing answer again, or runs the question. */
  async choose(question: Question): Promise<void> {
    this.current = question;
    if (question.offer ? !this.answers.has(question.id) : this.crash.outcomes.length === 0)
      await this.ask(question);
  }
  async ask(question: Question): Promise<void> {
    if (!question.offer) return this.crash.run();
    this.lab.choose(question.offer);
    this.lab.place = 'questions';
    await this.lab.run();
  }

  /** A crash test that a closed tab left. */
  showCrash(unfinished: UnfinishedCrash): void {
    this.current = this.all.find(({ offer }) => offer === null)!;
    this.crash.show(unfinished);
  }
  /** The shown runs are finished. If they belong to a question, they answer it. */
  take(): void {
    const { lab } = this;
    const placed = lab.shown?.offer;
    if (placed?.kind !== 'experiment' || lab.canResume) return;
    if (!this.all.some(({ offer }) => offer?.id === placed.id)) return;
    const items = lab.columns.map(({ item }) => item);
    const { results } = experimentResultOf(placed.experiment, items);
    this.answers = new Map(this.answers).set(placed.id, {
      answer: answerOf(placed.id, results),
      failures: lab.columns.flatMap(({ heading, item }) =>
        item.message ? [`${heading}: ${item.message}`] : [],
      ),
      showAll: lab.keepShown(),
    });
  }
}
