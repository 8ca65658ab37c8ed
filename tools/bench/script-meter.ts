// How long the main thread's script takes in each animation frame. Measured inside the page, so it
// works in every browser: includes work started by frame callbacks, worker messages, timers, and
// input events, and the microtasks that follow.
import type { Page } from 'puppeteer-core';

declare global {
  interface Window {
    scriptMeter: {
      /** Script time so far, ms, without the meter's own time once that is known. */
      spentMs(): number;
      /** Calibrate the meter's own time: the minimum of many empty measurements. */
      calibrate(): Promise<void>;
      /** Measure the following script, until the microtasks after it have run. */
      begin(): void;
      /** Answered requests for a timeline frame, ms from request to answer. */
      answersMs: number[];
      /**
       * The picture on screen when the worker reported that a file is open. Later pictures show all
       * of its events.
       */
      opened: { frame: string | undefined } | null;
    };
  }
}

/** Runs in the page, before its scripts. */
function install(): void {
  /** Depth of nested microtasks to wait for. */
  const DEPTH = 40;
  const TRIES = 100;
  let spent = 0;
  let began = -1;
  /** Number of measurements, and the meter's own time in each, ms. */
  let times = 0;
  let own = 0;
  const end = (hops: number): void =>
    queueMicrotask(() => {
      if (hops > 0) return end(hops - 1);
      spent += performance.now() - began;
      began = -1;
    });
  const begin = (): void => {
    if (began >= 0) return;
    times++;
    began = performance.now();
    end(DEPTH);
  };
  const measured = <A extends unknown[]>(call: (...args: A) => unknown) =>
    function (this: unknown, ...args: A): unknown {
      begin();
      return call.apply(this, args);
    };
  const answersMs: number[] = [];
  const frame = window.requestAnimationFrame.bind(window);
  window.requestAnimationFrame = (call) => frame(measured(call));
  const timer = window.setTimeout.bind(window) as (
    call: () => void,
    ms?: number,
    ...args: unknown[]
  ) => number;
  async function calibrate(): Promise<void> {
    if (own > 0) return;
    let least = Infinity;
    for (let i = 0; i < TRIES; i++) {
      const before = spent;
      begin();
      // a separate task: its microtasks are done by then
      await new Promise<void>((resolve) => timer(resolve));
      least = Math.min(least, spent - before);
    }
    own = least;
  }
  window.scriptMeter = {
    spentMs: () => spent - times * own,
    calibrate,
    begin,
    answersMs,
    opened: null,
  };
  window.setTimeout = ((call: () => void, ms?: number, ...args: unknown[]) =>
    timer(measured(call), ms, ...args)) as typeof setTimeout;

  const asked = new Map<number, number>();
  let opening = -1;
  const { postMessage } = Worker.prototype;
  Worker.prototype.postMessage = function (
    this: Worker,
    message: { id: number; method?: string },
    ...rest: [StructuredSerializeOptions]
  ): void {
    if (message.method === 'timeline') asked.set(message.id, performance.now());
    if (message.method === 'open') {
      opening = message.id;
      window.scriptMeter.opened = null;
    }
    postMessage.call(this, message, ...rest);
  } as typeof postMessage;
  const listen = EventTarget.prototype.addEventListener;
  Worker.prototype.addEventListener = function (
    this: Worker,
    type: string,
    listener: (event: MessageEvent) => void,
    ...rest: []
  ): void {
    const told = (event: MessageEvent<{ id?: number }>): void => {
      if (event.data?.id === opening)
        window.scriptMeter.opened ??= {
          frame: document.querySelector<HTMLElement>('[data-testid=timeline]')?.dataset.frame,
        };
      const at = asked.get(event.data?.id ?? -1);
      if (at !== undefined) {
        answersMs.push(performance.now() - at);
        asked.delete(event.data.id!);
      }
      listener.call(this, event);
    };
    listen.call(
      this,
      type,
      (type === 'message' ? measured(told) : listener) as EventListener,
      ...rest,
    );
  } as typeof Worker.prototype.addEventListener;
}

/** Call before the page is opened. */
export const installScriptMeter = (page: Page): Promise<unknown> =>
  page.evaluateOnNewDocument(install);

export interface Movement {
  /** Script time by frame, ms. */
  scriptMs: number[];
  /** From requesting a timeline frame from the worker to receiving it, ms. */
  answerMs: number[];
}

/** Drag or zoom the timeline once in every animation frame, 15 frames forth and 15 back. */
export const moveTimeline = (page: Page, kind: 'pan' | 'zoom', frames: number): Promise<Movement> =>
  page.evaluate(
    async (what, wanted) => {
      const canvas = document.querySelector<HTMLCanvasElement>('[data-testid=timeline]')!;
      const box = canvas.getBoundingClientRect();
      const { scriptMeter } = window;
      const scriptMs: number[] = [];
      await scriptMeter.calibrate();
      scriptMeter.answersMs.length = 0;
      await new Promise(requestAnimationFrame);
      let before = scriptMeter.spentMs();
      for (let i = 0; i < wanted; i++) {
        const forth = Math.floor(i / 15) % 2 === 0 ? 1 : -1;
        const change =
          what === 'pan'
            ? { shiftKey: true, deltaY: 30 * forth }
            : { ctrlKey: true, deltaY: -40 * forth };
        scriptMeter.begin();
        canvas.dispatchEvent(
          new WheelEvent('wheel', {
            ...change,
            clientX: box.x + box.width / 2,
            clientY: box.y + 60,
            bubbles: true,
            cancelable: true,
          }),
        );
        await new Promise(requestAnimationFrame);
        const now = scriptMeter.spentMs();
        scriptMs.push(now - before);
        before = now;
      }
      return { scriptMs, answerMs: [...scriptMeter.answersMs] };
    },
    kind,
    frames,
  );

/** The quantile (0..1) of all values; NaN without any. */
export const percentile = (values: readonly number[], share: number): number =>
  [...values].sort((a, b) => a - b)[Math.floor((values.length - 1) * share)] ?? NaN;
