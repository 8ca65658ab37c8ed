/**
 * What a finding would save: avoided calls at the mean cost of such calls in the trace, or why that
 * isn't known.
 */
import type { FileKind } from '../../event/definitions.ts';
import type { Cost, FindingContext } from './context.ts';
import type { AvoidedCalls, Finding } from './types.ts';
import { countOf, formatDuration } from '../../text/numbers.ts';

type KnownSaving = Pick<Finding, 'savingUs' | 'savingHow' | 'avoids'>;

/** If such calls cost this many times as much elsewhere, a saving is an estimate. */
const FAR = 1.1;

/** Sums up avoidable calls. */
export class Saving {
  private us = 0;
  private capped = false;
  /** The calls cost much less than such calls elsewhere in the trace. */
  isEstimate = false;
  private readonly parts: string[] = [];
  private readonly unknown: string[] = [];
  private readonly avoids: AvoidedCalls[] = [];

  constructor(private readonly ctx: FindingContext) {}

  /**
   * Avoids `n` calls of an operation.
   * @param name of the operation in the sentence @param ofThese cost of the calls that these belong
   * to, if known; else of all such calls
   */
  avoid(
    n: number,
    op: number,
    name: string,
    kind: FileKind | '' = '',
    ofThese?: Cost | null,
  ): this {
    if (n <= 0) return this;
    const cost = ofThese === undefined ? this.ctx.cost(op, kind) : ofThese;
    this.avoids.push({ op, kind, calls: n });
    if (!cost?.calls) this.unknown.push(name);
    else {
      this.us += (Math.min(n, cost.calls) * cost.us) / cost.calls; // never more than there were
      this.parts.push(amount(n, name));
    }
    return this;
  }
  /**
   * Calls that would be made instead, at their cost in this trace.
   * @param like those on files of this kind
   */
  instead(
    n: number,
    op: number,
    name: string,
    kind: FileKind | '' = '',
    like: FileKind | '' = kind,
  ): this {
    if (n > 0) this.avoids.push({ op, kind, calls: -n });
    const cost = n > 0 ? this.ctx.cost(op, like) : null;
    if (cost) {
      this.us -= (n * cost.us) / cost.calls;
      this.parts.push(`minus ${amount(n, name)}`);
    }
    return this;
  }
  /**
   * Limits the saving to the time of the finding's calls.
   * @param share of those calls that is avoided, if known
   */
  atMost(us: number, share = 1): this {
    const most = us * share;
    if (this.us > most) {
      this.capped = true;
      this.isEstimate = this.us > FAR * most;
      this.us = most;
    }
    return this;
  }
  /** @param untimed why only calls, but no time, is given */
  result(untimed?: string): KnownSaving {
    const { avoids } = this;
    const saving = untimed === undefined ? this.saving() : noSaving(untimed);
    return avoids.length ? { ...saving, avoids } : saving;
  }
  private saving(): KnownSaving {
    if (this.parts.length === 0)
      return {
        savingUs: null,
        savingHow: this.unknown.length
          ? `none of the ${this.unknown.join(', ')} was timed`
          : 'no call would be avoided',
      };
    const how = `${this.parts.join(', ')}, each at its average time${this.capped ? ', capped at what these calls took' : ''}`;
    return this.us < 0
      ? noSaving(`what would be called instead takes longer here: ${how}`)
      : { savingUs: this.us, savingHow: how };
  }
}

/** @param name of the calls, plural */
const amount = (n: number, name: string): string =>
  countOf(Math.round(n), name.replace(/s$/, ''), name);

/** A saving that cannot be computed, and why. */
export const noSaving = (why: string): { savingUs: null; savingHow: string } => ({
  savingUs: null,
  savingHow: why,
});
/** A saving that the trace shows directly. */
export const measured = (us: number, how: string): { savingUs: number; savingHow: string } => ({
  savingUs: us,
  savingHow: how,
});

/**
 * A saving that the clock can show: less than one of its steps may be nothing, or a call that took
 * a whole step by chance.
 * @param clockStepUs microseconds; null = not known, and then only 0 means nothing
 */
export function tellable<T extends Pick<Finding, 'savingUs' | 'savingHow'>>(
  saving: T,
  clockStepUs: number | null,
): T {
  const { savingUs, savingHow } = saving;
  if (savingUs === null || (savingUs > 0 && savingUs >= (clockStepUs ?? 0))) return saving;
  const step = clockStepUs ? ` (its step is ${formatDuration(clockStepUs)})` : '';
  return { ...saving, ...noSaving(`too short for this clock to measure${step}: ${savingHow}`) };
}
