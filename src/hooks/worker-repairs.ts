/**
 * In a wrapped worker, the base URL is our blob's, but the app expects the URL that it passed to
 * the constructor. Repairs self.location and everything that resolves a relative URL.
 * import.meta.url and imports of the app's own modules need no repair. Repairs stay after a
 * recording: the worker would break without them.
 */
import { Patches, type Callable } from '../record/patches.ts';
import { NativeURL } from './natives.ts';
import { REFUSED } from './refusals.ts';
import { convertOnce, isScriptUrl } from './script-address.ts';
import { apply } from '../record/reflect.ts';

const NativeRequest = Request;

/**
 * Makes a relative URL absolute. An invalid one passes unchanged, so that the native call throws
 * its own error.
 */
export function absoluteBy(base: () => string): (url: unknown) => unknown {
  return (url) => {
    if (url instanceof NativeRequest || typeof url === 'symbol') return url;
    const args = [isScriptUrl(url) ? String(url) : url];
    convertOnce(args);
    try {
      return typeof args[0] === 'string' ? new NativeURL(args[0], base()).href : args[0];
    } catch {
      return args[0];
    }
  };
}

const LOCATION_PARTS = [
  'href',
  'origin',
  'protocol',
  'host',
  'hostname',
  'port',
  'pathname',
  'search',
  'hash',
] as const;

/** Members of a RequestInit that the platform reads after `referrer`, in this order. */
const BEHIND_REFERRER = ['referrerPolicy', 'signal', 'window'];
/** What a Request returns for a referrer that isn't set. */
const CLIENT = 'about:client';

/**
 * Make this worker's global scope behave as if its script had been loaded from `base`. Call before
 * the app's first line.
 */
export function repairBaseUrl(base: string): void {
  const g = globalThis as unknown as Record<string, object | undefined>;
  const patches = new Patches(); // only for its way to replace functions: never restored
  const absolute = absoluteBy(() => base);
  const first = (args: unknown[]): unknown[] => [absolute(args[0]), ...args.slice(1)];
  const firstArgument = (native: Callable, self: unknown, args: unknown[]): unknown =>
    apply(native, self, args.length ? first(args) : args);
  const constructor = (name: string, repair: (args: unknown[]) => unknown[]): void => {
    patches.construction(globalThis, name, (make, args) => make(args.length ? repair(args) : args));
    patches.value(prototypeOf(name), 'constructor', () => g[name]);
  };
  const prototypeOf = (name: string): object | undefined =>
    (g[name] as { prototype?: object } | undefined)?.prototype;

  repairLocation(base);
  // natively the worker's URL, which a blob: URL can't replace
  const referrer = base.startsWith('http') ? base : undefined;
  /** A RequestInit in the app's terms; every member is read once, as the platform reads it. */
  const initOf = (
    init: unknown,
    request: Request | null,
    byDefault: string | undefined,
  ): unknown => {
    const keeps = !byDefault || (request && request.referrer !== CLIENT);
    const policy = request?.referrerPolicy;
    if (init === undefined || init === null)
      return keeps ? init : { referrer: byDefault, referrerPolicy: policy };
    if (typeof init !== 'object' && typeof init !== 'function') return init; // throws natively
    const early: Record<PropertyKey, unknown> = { __proto__: null };
    let changes = !request;
    const read = (key: PropertyKey): unknown => {
      const value = (init as Record<PropertyKey, unknown>)[key];
      changes ||= value !== undefined;
      return value;
    };
    // not on `init` itself: a Proxy of a frozen object can't return another referrer
    return new Proxy({} as Record<PropertyKey, unknown>, {
      get(_, key) {
        if (key in early) return early[key];
        const value = read(key);
        if (key !== 'referrer' || value === '') return value;
        if (value !== undefined && value !== CLIENT) return absolute(value);
        if (!changes) for (const later of BEHIND_REFERRER) early[later] = read(later);
        // without members, it doesn't change the request
        if (!changes && keeps) return value;
        if (!changes) early['referrerPolicy'] = policy;
        return byDefault ?? value;
      },
    });
  };
  const request = (args: unknown[], byDefault?: string): unknown[] => [
    absolute(args[0]),
    initOf(args[1], args[0] instanceof NativeRequest ? args[0] : null, byDefault),
  ];

  patches.method(globalOwner('fetch'), 'fetch', (native, self, args) =>
    apply(native, self, args.length ? request(args, referrer) : args),
  );
  patches.method(globalOwner('importScripts'), 'importScripts', (native, self, urls) =>
    apply(native, self, urls.map(absolute)),
  );
  constructor('Request', (args) => request(args));
  for (const name of ['EventSource', 'WebSocket', 'Worker']) constructor(name, first);
  patches.method(g.Response, 'redirect', firstArgument);
  patches.method(prototypeOf('XMLHttpRequest'), 'open', (native, self, args) =>
    apply(native, self, args.length > 1 ? [args[0], absolute(args[1]), ...args.slice(2)] : args),
  );
  for (const name of ['add', 'match', 'matchAll', 'put', 'delete', 'keys'])
    patches.method(prototypeOf('Cache'), name, firstArgument);
  patches.method(prototypeOf('CacheStorage'), 'match', firstArgument);
  patches.method(prototypeOf('Cache'), 'addAll', (native, self, args) =>
    apply(
      native,
      self,
      Object(args[0]) === args[0]
        ? [Array.from(args[0] as Iterable<unknown>, absolute), ...args.slice(1)]
        : args,
    ),
  );
}

/**
 * The object that owns a function of the global scope: the scope itself or one of its prototypes.
 */
function globalOwner(name: string): object | undefined {
  for (let o: object | null = globalThis; o; o = Object.getPrototypeOf(o) as object | null)
    if (Object.hasOwn(o, name)) return o;
  return undefined;
}

/** The object stays the platform's. Its getters answer for the app's script. */
function repairLocation(base: string): void {
  const here = new NativeURL(base);
  const { prototype } = (globalThis as unknown as { WorkerLocation: { prototype: object } })
    .WorkerLocation;
  for (const part of LOCATION_PARTS) {
    const native = Object.getOwnPropertyDescriptor(prototype, part);
    if (!native?.get) continue;
    const get = new Proxy(native.get, {
      apply(target, self, args) {
        apply(target, self, args); // throws on what isn't a WorkerLocation
        return here[part];
      },
    });
    Object.defineProperty(prototype, part, { ...native, get });
  }
  const toString = Object.getOwnPropertyDescriptor(prototype, 'toString');
  if (typeof toString?.value !== 'function') return;
  const value = new Proxy(toString.value as () => string, {
    apply(target, self, args) {
      apply(target, self, args);
      return here.href;
    },
  });
  Object.defineProperty(prototype, 'toString', { ...toString, value });
}

/** The smallest wasm module: magic and version. */
const EMPTY_MODULE = new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0]);

/**
 * A network worker has the headers of its own response. Ours inherits the page's policy, which may
 * forbid wasm. '' = fit.
 */
export function unfitness(base: string): string {
  if (base.startsWith('blob:')) return ''; // the app's own worker inherits the policy as well
  try {
    return new WebAssembly.Module(EMPTY_MODULE) ? '' : 'no WebAssembly';
  } catch {
    return REFUSED.wasm;
  }
}
