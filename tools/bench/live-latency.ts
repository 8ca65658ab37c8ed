// How long it takes from an event's end to its pixel during a recording. A port of a fake thread
// sends 50,000 events a second in batches of 50 ms, and the timeline's pixels show what is on
// screen.
import type { Page } from 'puppeteer-core';
import { Field, Op, RECORD_BYTES } from '../../src/event/event.ts';
import { PROTOCOL_VERSION } from '../../src/protocol/messages.ts';

export interface Latency {
  /** ms, over all events */
  median: number;
  p95: number;
  events: number;
  /** Animation frames in which pixels were read. */
  frames: number;
}

const WIRE = {
  Field,
  RECORD_BYTES,
  PROTOCOL_VERSION,
  xRead: Op.xRead,
  perBatch: 2500,
  everyMs: 50,
  seconds: 10,
};

/** @param page the panel with a fake page to record, `?live` */
export async function liveLatency(page: Page): Promise<Latency> {
  await page.click('[data-testid=record]');
  await page.waitForSelector('[data-testid=stop]:not(:disabled)');
  const result = await page.evaluate(async (wire) => {
    const { port1, port2 } = new MessageChannel();
    window.panel.app.handOver(port2);
    const identity = {
      id: 'bench',
      kind: 'worker',
      url: 'https://app.example/w.js',
      name: 'bench',
      parent: null,
    };
    port1.postMessage({
      k: 'hello',
      protocol: wire.PROTOCOL_VERSION,
      thread: identity,
      timeOrigin: performance.timeOrigin,
    });
    const F = wire.Field;
    const began = performance.now();
    let [seq, sent, upTo] = [0, 0, began];
    const send = (): void => {
      const from = upTo;
      upTo = performance.now();
      // a late batch is a larger one
      const count = Math.round((wire.perBatch * (upTo - from)) / wire.everyMs);
      const view = new DataView(new ArrayBuffer(count * wire.RECORD_BYTES));
      for (let i = 0; i < count; i++) {
        const at = i * wire.RECORD_BYTES;
        const t = from + ((upTo - from) * i) / count;
        view.setFloat64(at + F.t0, t, true);
        view.setFloat64(at + F.t1, t + 0.015, true);
        view.setUint32(at + F.seq, ++seq, true);
        view.setUint32(at + F.endSeq, ++seq, true);
        view.setUint32(at + F.op, wire.xRead, true);
        view.setFloat64(at + F.offset, i * 4096, true);
        view.setUint32(at + F.length, 4096, true);
      }
      const batch = {
        thread: 'bench',
        first: sent,
        count,
        timeOrigin: performance.timeOrigin,
        dropped: 0,
        faults: 0,
        definitions: [],
        records: view.buffer,
      };
      sent += count;
      port1.postMessage({ k: 'batch', batch }, [view.buffer]);
    };
    const timer = setInterval(send, wire.everyMs);
    const canvas = document.querySelector<HTMLCanvasElement>('[data-testid=timeline]');
    const lane = (): Element | undefined =>
      [...document.querySelectorAll('.lane-box')].find((box) => box.textContent?.includes('VFS'));
    const samples: { now: number; drawnMs: number }[] = [];
    let originMs: number | null = null;
    while (performance.now() - began < wire.seconds * 1000) {
      await new Promise(requestAnimationFrame);
      const timeline =
        document.querySelector<HTMLCanvasElement>('[data-testid=timeline]') ?? canvas;
      const box = lane()?.getBoundingClientRect();
      if (!timeline?.dataset.frame || !box) continue;
      // less than the view's span was recorded, so it starts with the first event
      originMs ??= began - Number(timeline.dataset.from) / 1000;
      const top = timeline.getBoundingClientRect().top;
      const { data } = timeline
        .getContext('2d')!
        .getImageData(0, Math.round(box.top + box.height - 3 - top), timeline.width, 1);
      let x = timeline.width - 1;
      while (x >= 0 && !(data[4 * x + 2]! > data[4 * x]! + 40)) x--; // reads are blue
      const [from, to] = [Number(timeline.dataset.from), Number(timeline.dataset.to)];
      samples.push({
        now: performance.now(),
        drawnMs: originMs + (from + ((to - from) * (x + 1)) / timeline.width) / 1000,
      });
    }
    clearInterval(timer);
    const latencies: number[] = [];
    const settled = samples.at(-1)?.drawnMs ?? began;
    for (let t = began + 1000, i = 0; t < settled; t++) {
      while (i < samples.length && samples[i]!.drawnMs < t) i++;
      if (i < samples.length) latencies.push(samples[i]!.now - t);
    }
    latencies.sort((a, b) => a - b);
    const share = (s: number): number => latencies[Math.floor((latencies.length - 1) * s)]!;
    return {
      median: share(0.5),
      p95: share(0.95),
      events: sent,
      frames: samples.length,
      measured: latencies.length,
    };
  }, WIRE);
  if (result.measured < 1000)
    throw new Error(`only ${result.measured} ms of the recording were seen on screen`);
  return result;
}
