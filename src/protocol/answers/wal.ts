/** Questions and answers of the WAL view. */
import type { CheckpointLine, WalLine } from '../../analysis/wal/table.ts';

export interface WalLog {
  history: WalLine;
  starved: boolean | null;
  /** The statement that keeps the WAL from restarting; null = none is known. */
  reader: string | null;
  /** Size over time, thinned to what a screen can show: the largest size of each time range. */
  series: { timeUs: Float64Array; usedBytes: Float64Array; fileBytes: Float64Array };
  checkpoints: CheckpointLine[];
}
