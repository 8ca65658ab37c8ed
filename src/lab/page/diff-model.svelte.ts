/** Two saved results that the page compares. */
import { savedOutcome, titleOf, type LabOutcome } from '../experiments/outcome.ts';
import { diffCsv, diffHtml, diffSvg } from '../results/diff-report.ts';
import { diffOf, type ResultDiff } from '../results/result-diff.ts';
import { saveResult, type SavedAs } from './results-file.ts';

interface Loaded {
  readonly name: string;
  readonly outcome: LabOutcome;
}
export type Side = 'a' | 'b';
const words = (error: unknown): string => (error instanceof Error ? error.message : String(error));

export class DiffModel {
  a = $state.raw<Loaded | null>(null);
  b = $state.raw<Loaded | null>(null);
  /** The error of the last chosen file. */
  private refused = $state('');

  /** null: one of the two is missing, or they can't be compared. */
  private readonly compared = $derived.by<ResultDiff | string | null>(() => {
    if (!this.a || !this.b) return null;
    try {
      return diffOf(this.a.outcome, this.b.outcome);
    } catch (error) {
      return words(error);
    }
  });
  readonly diff = $derived(typeof this.compared === 'string' ? null : this.compared);
  readonly error = $derived(
    this.refused || (typeof this.compared === 'string' ? this.compared : ''),
  );
  readonly title = $derived(this.a ? titleOf(this.a.outcome) : '');

  async take(side: Side, file: File): Promise<void> {
    this.refused = '';
    try {
      this.set(side, file.name, savedOutcome(await file.text(), file.name));
    } catch (error) {
      this.refused = words(error);
    }
  }
  set(side: Side, name: string, outcome: LabOutcome): void {
    this[side] = { name, outcome };
  }
  /** JSON has the same form as `vfscope lab diff --json`. */
  save(as: SavedAs): void {
    const { a, b, diff, title } = this;
    if (!a || !b || !diff) return;
    const compared = { title, a: a.name, b: b.name, diff };
    saveResult('diff', as, {
      object: diff,
      html: () => diffHtml(compared),
      svg: () => diffSvg(compared),
      csv: () => diffCsv(compared),
    });
  }
}
