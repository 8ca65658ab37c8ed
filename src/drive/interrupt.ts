/**
 * Ctrl+C while a page is recorded. The first one ends the recording, which is saved. The second one
 * gives up and ends the process. SIGTERM, which a CI sends after a timeout, and SIGHUP of a closing
 * terminal count the same. So does the end of a parent process that is connected by a channel
 * (`vfscope mcp`): however it ends, its children end, too.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
/**
 * npm forwards a Ctrl+C that the terminal has already sent to npm's children. A second signal right
 * after the first is the same one.
 */
const SAME_MS = 1000;
/** The exit code that shells report for a command ended by Ctrl+C. */
const ENDED_BY_CTRL_C = 130;

export interface Interrupt {
  /** Whether the first one has come. */
  readonly came: boolean;
  /** Resolves when the first one comes. */
  readonly first: Promise<void>;
  /**
   * Whether the first one has come by the next turn. Work that never waits for anything else
   * wouldn't notice it.
   */
  heard(): Promise<boolean>;
  /** Restore the process's signals. */
  ignore(): void;
}

/** @param say receives what the first one does */
export function listenForInterrupt(say: (line: string) => void): Interrupt {
  let came = false;
  let at = 0;
  let tell: () => void;
  const first = new Promise<void>((resolve) => (tell = resolve));
  const onSignal = (): void => {
    const now = performance.now();
    if (came && now - at < SAME_MS) return;
    if (came) process.exit(ENDED_BY_CTRL_C); // the browser ends with this process
    [came, at] = [true, now];
    say('interrupted; interrupt again to give up');
    tell();
  };
  for (const signal of SIGNALS) process.on(signal, onSignal);
  if (process.connected) process.on('disconnect', onSignal);
  return {
    get came() {
      return came;
    },
    first,
    async heard() {
      await nextTurn();
      return came;
    },
    ignore() {
      for (const signal of SIGNALS) process.off(signal, onSignal);
      process.off('disconnect', onSignal);
    },
  };
}
