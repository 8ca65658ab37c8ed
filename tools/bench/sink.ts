/** A recorder for benchmarks of the hook. */
import { Header } from '../../src/record/ring-layout.ts';
import { Recorder, type RecorderOptions } from '../../src/record/recorder.ts';

/** A recorder whose records are discarded immediately. */
export function sink(options: RecorderOptions): Recorder {
  const recorder = new Recorder(options);
  const words = new Uint32Array(recorder.memory.buffer);
  recorder.onPressure = (): void => {
    recorder.takeDefinitions();
    words[Header.claimed >>> 2] = words[Header.released >>> 2] = words[Header.head >>> 2]!;
  };
  return recorder;
}
