/**
 * How wasm modules get to this thread: fetched, compiled, instantiated. The request is looked up in
 * the browser's list of the page's own requests, by its URL if a module streams, else by the length
 * of its bytes. Nothing is requested from the network.
 */
import { Op } from '../event/event.ts';
import { react } from '../record/reaction.ts';
import { NOTHING, Recorder, type Token } from '../record/recorder.ts';
import { apply } from '../record/reflect.ts';

/** A module that is being loaded. */
export interface Load {
  readonly token: Token;
  /** seq of its record. */
  readonly seq: number;
  /** The URL of a streamed module, once the response has arrived. */
  url: string;
}

/**
 * Smaller ones are left out: glue makes a module of a few bytes for each function that it adds to a
 * table.
 */
const [SMALLEST, LONGEST_URL, MOST_URLS] = [1024, 500, 100] as const;
/** Maximum lookups of a request that the browser hasn't reported. */
const MOST_LOOKS = 20;
/** As they are before the app's first line. */
const [entriesOf, NativePromise, NativeResponse, NativeModule] = [
  performance.getEntriesByType,
  Promise,
  Response,
  WebAssembly.Module,
];

export class WasmLoads {
  /** seq of the call that compiled a module; 0 = it is too small to be recorded. */
  private readonly compiled = new WeakMap<object, number>();
  /** Ids of URLs; and how often a URL's request was looked up without success. */
  private readonly urls = new Map<string, number>();
  private readonly unseen = new Map<string, number>();

  constructor(private readonly recorder: Recorder) {}

  /** @param op wasmCompile or wasmInstantiate @param source what the app passes */
  begin(op: number, source: unknown): Load {
    const { byteLength = 0 } = (
      ArrayBuffer.isView(source) || source instanceof ArrayBuffer ? source : {}
    ) as { byteLength?: number };
    const compile = this.compiled.get(source as object);
    const small = compile === 0 || (byteLength > 0 && byteLength < SMALLEST);
    const token = small ? NOTHING : this.recorder.begin(op, 0, NaN, byteLength, 0, compile ?? 0);
    const load = { token, seq: Recorder.seqOf(token), url: '' };
    const look = (response: unknown): void => {
      if (response instanceof NativeResponse) load.url = response.url;
    };
    if (source instanceof NativePromise) void react(source, look, () => {});
    else look(source);
    if (byteLength >= SMALLEST)
      load.url = this.find((entry) => entry.decodedBodySize === byteLength)?.name ?? '';
    return load;
  }

  /** @param made the result; null = an error */
  end({ token, seq, url }: Load, made: unknown): void {
    const key = url.slice(0, LONGEST_URL);
    let id = this.urls.get(key) ?? 0;
    if (key && !id && this.urls.size < MOST_URLS) {
      this.urls.set(key, (id = this.recorder.define({ kind: 'name', text: key })));
      this.unseen.set(url, 0);
    }
    this.recorder.end(token, made === null ? 1 : 0, 0, undefined, id);
    const module =
      made instanceof NativeModule ? made : (made as { module?: object } | null)?.module;
    if (module) this.compiled.set(module, seq);
    this.fetched();
  }

  /** Record the requests that the browser has reported since. */
  fetched(): void {
    for (const [url, looks] of this.unseen) {
      const entry = this.find(({ name }) => name === url);
      if (entry || looks === MOST_LOOKS) this.unseen.delete(url);
      else this.unseen.set(url, looks + 1);
      if (!entry) continue;
      const { startTime, responseEnd, encodedBodySize, decodedBodySize } = entry;
      const us = Math.round((responseEnd - startTime) * 1000);
      this.recorder.instant(
        Op.wasmFetch,
        this.urls.get(url.slice(0, LONGEST_URL))!,
        startTime,
        encodedBodySize,
        us,
        0,
        decodedBodySize,
      );
    }
  }

  private find(
    is: (entry: PerformanceResourceTiming) => boolean,
  ): PerformanceResourceTiming | undefined {
    return (apply(entriesOf, performance, ['resource']) as PerformanceResourceTiming[]).findLast(
      is,
    );
  }
}
