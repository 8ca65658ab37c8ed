/**
 * What a finding is: a known mistake or cost that a trace shows, how often, what it cost, how sure that is, and what to do about it.
 * Every rule has an id (F01 ...) that stays its own for good; a rule is a pure function of a FindingContext.
 */
import type { FileKind } from '../../event/definitions.ts';
import type { AnyFact } from '../core/graph.ts';
import type { FindingContext, FindingEvidence, FoundEvidence } from './context.ts';

export type Confidence = 'certain' | 'likely' | 'possible';
/** The surest first. */
export const SURE: Readonly<Record<Confidence, number>> = { certain: 0, likely: 1, possible: 2 };

/** Calls that would not be made if the advice were followed. */
export interface AvoidedCalls {
  op: number;
  /** Of the file, for VFS calls; '' = of all. */
  kind: FileKind | '';
  /** Below 0: so many would be made instead. */
  calls: number;
}

export interface Finding {
  /** Id of the rule. */
  rule: string;
  /** One sentence with the numbers. */
  title: string;
  evidence: FindingEvidence;
  /**
   * Estimate, microseconds: calls avoided x what such a call took in this trace. null where it cannot be computed, see `savingHow`.
   * Savings of several findings overlap: don't add them up.
   */
  savingUs: number | null;
  /** The app called storage itself, while no SQL ran: nothing of the time in SQL would be saved. */
  savesOutsideSql?: true;
  /** How it was computed, or why it cannot be. */
  savingHow: string;
  /** What a recording of the same work would have less, if the advice were followed; absent where that isn't a number of calls. */
  avoids?: readonly AvoidedCalls[];
  confidence: Confidence;
  /** Why no more, or no less, sure. */
  reason: string;
  /** What to do, one sentence. */
  advice: string;
  /** The SQL that does it, to copy; absent where no statement alone does. */
  sql?: string;
  /** Fingerprint of the statement whose query plan shows why; absent where none does. */
  statement?: string;
  /** Page of SQLite's documentation or of a specification that says more. */
  link: string;
  /** Name of the Lab's experiment that shows it both ways. */
  tryInLab?: string;
}

/** A finding as its rule makes it, with the time that it is about. `findings` adds whose it is. */
export interface Found extends Omit<Finding, 'rule' | 'evidence' | 'savesOutsideSql'> {
  evidence: FoundEvidence;
}

export interface Rule {
  id: string;
  title: string;
  /** Large facts that it always asks for: they are computed before it, with pauses. */
  needs?: Readonly<Record<string, AnyFact>>;
  run(ctx: FindingContext): Found | readonly Found[];
}

/** What statements that belong together are wrapped in. */
export const ONE_TRANSACTION = 'BEGIN;\n-- your statements\nCOMMIT;';

/** Something about the recording that makes its numbers mislead. */
export interface Badge {
  badge: string;
  /** One sentence with the numbers. */
  say: string;
  /** Something was not recorded: what is shown is less than what was. */
  hides?: true;
}
