/** The experiments of the five documents, by id. */
import type { Experiment } from '../model/types.ts';
import { CHECKPOINTING } from './checkpointing.ts';
import { COMMIT_SHARE } from './commit-share.ts';
import { CPU_COUNTS } from './cpu-counts.ts';
import { SQL_OVER_STORAGE } from './sql-over-storage.ts';
import { WRITE_POLICY } from './write-policy.ts';

export const EXPERIMENTS: readonly Experiment[] = [
  WRITE_POLICY,
  COMMIT_SHARE,
  SQL_OVER_STORAGE,
  CPU_COUNTS,
  CHECKPOINTING,
];
