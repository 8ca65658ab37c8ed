/**
 * The common part of pages and workers: everything that a recording installs in this thread, and
 * its removal.
 */
import { ownScript } from '../engines/call-stacks.ts';
import { installEngines, type InstalledEngines } from '../engines/install.ts';
import { installProbes, type InstalledProbes } from '../probes/install.ts';
import { Op } from '../event/event.ts';
import { PromiseWatch } from '../record/promise-watch.ts';
import { measureVfsCost } from '../vfs-instrumented/interpose/self-cost.ts';
import { capture, scripts } from './capture.ts';
import { installHostEvents } from './host-events.ts';
import type { CountInstructions } from './instructions.ts';
import { listen, randomId, unlisten } from './natives.ts';
import { hookExtent, WORKERS_FILTERED } from './source.ts';
import { measureJsCost, type JsCost, type Thread } from './thread.ts';
import { DRAIN_EVERY_MS } from '../event/capture.ts';
import type { Source, Transport } from './transport.ts';
import type { Workers } from './workers.ts';

/** Engines that have been idle get their definition after this long. */
const ANNOUNCE_AFTER_MS = 200;
/** Enough for a clock of 100 us, few enough for about 2 ms. */
const COST_CALLS = 5000;

/** Maximum names of frozen properties in a note. */
const MOST_NAMES = 20;

export class Session {
  private probes: InstalledProbes | null = null;
  private engines: InstalledEngines | null = null;
  private undoHost: () => string[] = () => [];
  private workers: Workers | null = null;
  private stopped = false;
  private jsCost: JsCost | null = null;
  private vfsCostKnown = false;

  constructor(readonly thread: Thread) {}

  /** Patch this realm. A part that fails is reported, and the others still work. */
  install(workers: Workers): void {
    const { recorder } = this.thread;
    const setUp = recorder.begin(Op.tracer, 0, NaN, 0);
    const layers = new Set(capture.layers);
    // one for all layers: the app's realm gets one pair of listeners
    const on = globalThis as unknown as EventTarget;
    const watch = new PromiseWatch({
      addEventListener: (type, listener) => listen(on, type, listener, true),
      removeEventListener: (type, listener) => unlisten(on, type, listener, true),
    });
    if (layers.has('web'))
      this.try('probes', () => (this.probes = installProbes(recorder, globalThis, watch)));
    this.try('engines', () => {
      const stacks = capture.stacks ? { own: ownScript(hookExtent()) } : undefined;
      const options = {
        vfs: layers.has('vfs'),
        sql: layers.has('sql'),
        query: layers.has('query'),
        salt: parseInt(randomId().slice(0, 8), 16) | 1,
        level: capture.capture,
        stacks,
        meter: scripts.instructions as CountInstructions | undefined,
        watch,
      };
      this.engines = installEngines(recorder, options);
    });
    this.try('workers', () => {
      this.workers = workers;
      workers.install();
    });
    // over other wrappers of Worker, and removed first
    this.try('host events', () => (this.undoHost = installHostEvents(this.thread, workers)));
    recorder.end(setUp, 0);
  }

  /**
   * On a timer: define engines that have been idle so far, and report the tracer's cost. Again once
   * there is an engine.
   */
  announce(): void {
    const { engines } = this;
    if (!engines || this.stopped) return;
    this.try('engines', () => engines.announce(ANNOUNCE_AFTER_MS));
    if (!this.jsCost || (engines.count > 0 && !this.vfsCostKnown))
      this.try('measuring the cost', () => this.measureCost(engines.count > 0));
  }

  private measureCost(ofVfsEvents: boolean): void {
    const { recorder } = this.thread;
    this.vfsCostKnown = ofVfsEvents; // first, so that a failure isn't tried again
    const token = recorder.begin(Op.tracer, 0, NaN, 0);
    this.jsCost ??= measureJsCost();
    const nsPerVfsEvent = ofVfsEvents
      ? Math.round(measureVfsCost(COST_CALLS, 1).nsPerVfsEvent)
      : null;
    recorder.emit({ kind: 'cost', id: 0, ...this.jsCost, nsPerVfsEvent });
    recorder.end(token, 0);
  }

  /**
   * Stop recording and restore what was patched.
   * @param last the patches below, restored along with it
   * @returns false if it had stopped already
   */
  restore(last?: { restore(): string[] } | null): boolean {
    if (this.stopped) return false;
    this.stopped = true;
    const { recorder } = this.thread;
    recorder.instant(Op.threadEnd, 0, NaN, 0);
    recorder.enabled = false;
    const left: string[] = [];
    const take = (where: string, run: () => string[] | undefined): void =>
      this.try(where, () => left.push(...(run() ?? [])));
    take('host events', this.undoHost);
    take('workers', () => this.workers?.restore());
    take('engines', () => this.engines?.restore());
    take('probes', () => this.probes?.restore());
    if (!WORKERS_FILTERED) take('SharedWorker', () => last?.restore());
    if (left.length) recorder.note('not-restored', left.slice(0, MOST_NAMES).join(', '));
    return true;
  }

  private try(where: string, run: () => void): void {
    try {
      run();
    } catch (e) {
      this.thread.recorder.fault(where, e);
    }
  }
}

/**
 * A thread that doesn't yield sends its records from inside the app's calls, as often as one that
 * does. Otherwise they would be lost if it is terminated. With DevTools open, such a message costs
 * 0.3 ms beside its bytes, because DevTools store the stack of every postMessage.
 */
const SEND_EVERY_MS = DRAIN_EVERY_MS;

/** The ring of a thread that sends its own records. */
export function ownSource(session: Session, transport: Transport): Source {
  const { recorder, identity } = session.thread;
  const restart = (): void => recorder.askForDrains(Infinity, recorder.now() + SEND_EVERY_MS);
  restart();
  recorder.onPressure = () => {
    recorder.askForDrains(0); // until the drain: our own record comes before it
    try {
      const token = recorder.begin(Op.tracer, 0, NaN, recorder.backlogRecords);
      transport.drain();
      recorder.end(token, 0);
    } catch (e) {
      recorder.fault('draining', e);
    }
  };
  let lost = 0;
  let said = false;
  return {
    identity,
    timeOrigin: performance.timeOrigin,
    buffer: recorder.memory.buffer,
    takeDefinitions() {
      restart(); // this is a drain, whatever it contains
      return recorder.takeDefinitions();
    },
    hold(on) {
      if (on) recorder.askForDrains(0); // else a drain follows
      if (!on || said) return;
      said = true;
      recorder.note('transport', 'Too many records wait for the panel: new ones may be dropped.');
    },
    lost(dropped) {
      if (dropped === lost) return;
      recorder.instant(Op.dropped, 0, NaN, dropped - lost);
      lost = dropped;
    },
  };
}
