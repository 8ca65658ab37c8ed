/**
 * The library `vfscope/vfs`: records what SQLite asks of your VFS, in production and in tests,
 * without the extension.
 *
 *   const recording = startRecording();
 *   sqlite3.vfs_register(instrument(vfs, recording), true);
 *   ...
 *   const blob = await recording.save(); // a .vfst file: the panel and `vfscope summary` open it
 */
export { instrument, type RecordTarget } from './overlay.ts';
export { Recording, startRecording, type RecordingOptions } from './recording.ts';
export {
  BlockIdbVfs,
  type BlockIdbOptions,
  type BlockStats,
  type WritePolicy,
} from '../block-idb/block-idb-vfs.ts';
export { summaryOf, type Summary } from '../../analysis/report/summary.ts';
