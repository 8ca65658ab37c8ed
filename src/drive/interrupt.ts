/**
 * Ctrl+C while a page is recorded. The first ends the recording, which is saved; the second gives up and ends the process. SIGTERM, which a CI
 * sends when time is up, and SIGHUP of a terminal that closes are the same. So is the end of the process that started this one with a channel
 * (`vfscope mcp`): however it ends, nothing of it stays.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
/** npm hands a Ctrl+C on that the terminal has sent to its children already: what follows at once is the same one. */
const SAME_MS = 1000;
/** What a shell says of a command that Ctrl+C ended. */
const ENDED_BY_CTRL_C = 130;

export interface Interrupt {
  /** Whether the first has come. */
  readonly came: boolean;
  /** Resolves when it comes. */
  readonly first: Promise<void>;
  /** Whether the first has come by the next turn: work that never waits for anything else would not hear of it. */
  heard(): Promise<boolean>;
  /** Signals are the process's own again. */
  ignore(): void;
}

/** @param say told what the first one does */
export function listenForInterrupt(say: (line: string) => void): Interrupt {
  let came = false;
  let at = 0;
  let tell: () => void;
  const first = new Promise<void>((resolve) => (tell = resolve));
  const onSignal = (): void => {
    const now = performance.now();
    if (came && now - at < SAME_MS) return;
    if (came) process.exit(ENDED_BY_CTRL_C); // the browser goes with us
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
