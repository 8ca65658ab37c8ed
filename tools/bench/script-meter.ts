// How long the main thread's own script takes in each animation frame, measured inside the page, so in every browser alike: what was
// begun by a frame callback, a message of a worker, a timer or an input event, with the microtasks that follow it.
import type { Page } from 'puppeteer-core';

declare global {
  interface Window {
    scriptMeter: {
      /** Script so far, ms. What the meter takes itself is taken off, once it is known. */
      spentMs(): number;
      /** Learn what the meter takes itself: the least of many times that it measures nothing. */
      calibrate(): Promise<void>;
      /** The next line of script is part of what is measured: until the microtasks after it have run. */
      begin(): void;
      /** Requests for a frame of the timeline that were answered, ms from asking to having it. */
      answersMs: number[];
      /** The picture on screen when the worker said that a file is open: what comes after shows all of its events. */
      opened: { frame: string | undefined } | null;
    };
  }
}

/** Runs in the page, before its scripts. */
function install(): void {
  /** Microtasks of microtasks that are waited for. */
  const DEPTH = 40;
  const TRIES = 100;
  let spent = 0;
  let began = -1;
  /** Times that it measured, and what each took for the meter alone, ms. */
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
      await new Promise<void>((resolve) => timer(resolve)); // a task of its own: its microtasks are done by then
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

/** Before the page is opened. */
export const installScriptMeter = (page: Page): Promise<unknown> =>
  page.evaluateOnNewDocument(install);

export interface Movement {
  /** Script by frame, ms. */
  scriptMs: number[];
  /** From asking the worker for a frame of the timeline to having it, ms. */
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

/** The value that this share (0..1) of all do not exceed; NaN without any. */
export const percentile = (values: readonly number[], share: number): number =>
  [...values].sort((a, b) => a - b)[Math.floor((values.length - 1) * share)] ?? NaN;
