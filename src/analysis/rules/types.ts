/**
 * A finding is a known mistake or cost in a trace: how often it occurred, what it cost, how certain
 * it is, and what to do. Every rule has a permanent id (F01 ...) and is a pure function of a
 * FindingContext.
 */
import type { FileKind } from '../../event/definitions.ts';
import type { AnyFact } from '../core/graph.ts';
import type { FindingContext, FindingEvidence, FoundEvidence } from './context.ts';

export type Confidence = 'certain' | 'likely' | 'possible';
/** The most certain first. */
export const SURE: Readonly<Record<Confidence, number>> = { certain: 0, likely: 1, possible: 2 };

/** Calls that following the advice would avoid. */
export interface AvoidedCalls {
  op: number;
  /** Kind of the file, for VFS calls; '' = all. */
  kind: FileKind | '';
  /** Below 0: additional calls. */
  calls: number;
}

export interface Finding {
  /** Id of the rule. */
  rule: string;
  /** One sentence with the numbers. */
  title: string;
  evidence: FindingEvidence;
  /**
   * Estimate, microseconds: avoided calls x their mean time in this trace. null if it can't be
   * computed, see `savingHow`. Savings of several findings overlap, so don't add them up.
   */
  savingUs: number | null;
  /** The app called storage itself while no SQL ran, so the time in SQL wouldn't change. */
  savesOutsideSql?: true;
  /** How it was computed, or why it can't be. */
  savingHow: string;
  /**
   * What a recording of the same work would have less if the advice were followed; absent if that
   * isn't a number of calls.
   */
  avoids?: readonly AvoidedCalls[];
  confidence: Confidence;
  /** Why it isn't more, or less, certain. */
  reason: string;
  /** What to do, one or two sentences. */
  advice: string;
  /** Why it costs what it does, or why the advice helps; absent if the title shows it. */
  why?: string;
  /** The SQL that does it, to copy; absent if SQL alone isn't enough. */
  sql?: string;
  /** Fingerprint of the statement whose query plan shows why; absent if there isn't one. */
  statement?: string;
  /** Page of SQLite's documentation or of a specification with more information. */
  link: string;
  /** Name of the Lab's experiment that demonstrates it. */
  tryInLab?: string;
}

/** A finding as its rule makes it, with its time. `findings` adds the rule. */
export interface Found extends Omit<Finding, 'rule' | 'evidence' | 'savesOutsideSql'> {
  evidence: FoundEvidence;
}

export interface Rule {
  id: string;
  title: string;
  /** Large facts that it always needs: they are computed before it, with pauses. */
  needs?: Readonly<Record<string, AnyFact>>;
  run(ctx: FindingContext): Found | readonly Found[];
}

/** The wrapper for statements that belong together. */
export const ONE_TRANSACTION = 'BEGIN;\n-- your statements\nCOMMIT;';

/** Something about the recording that makes its numbers misleading. */
export interface Badge {
  badge: string;
  /** One sentence with the numbers. */
  say: string;
  /** Something wasn't recorded, so the numbers are too low. */
  hides?: true;
}
