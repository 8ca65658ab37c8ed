/**
 * Runs the extension's two scripts in WebKit like Safari: the hook in the page's world, the content
 * script in an isolated one, with a mock of `browser` whose ports carry only JSON. This file also
 * has the other end of the ports, which in Safari is in the background and the panel.
 */
import { execFileSync } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { SHARED_SCRIPT } from '../../src/protocol/capture.ts';
import { PartReader, toParts } from '../../src/protocol/json-wire.ts';
import { isRelayMessage, type Answer, type RelayMessage } from '../../src/protocol/messages.ts';
import { RelayEnd } from '../../src/protocol/relay.ts';
import type { InspectedPage } from './inspector.ts';
import { FEATURES, launchWebKit, type DrivenWebKit } from './minibrowser.ts';
import { SAFARI_BUILD } from './panel-page.ts';

const PROGRAM = fileURLToPath(new URL('./isolated-browser.py', import.meta.url));
/** Debian's own Python, because others lack its modules. */
const PYTHON = '/usr/bin/python3';
export const WORLD = 'vfscope';

/**
 * Origins by which scripts their documents get at the start. `shared` gets both, and SharedWorkers
 * start with the hook. Tests inject missing scripts later.
 */
export const SITES = {
  both: 'both',
  hook: 'hook-only',
  content: 'content-only',
  shared: 'shared',
} as const;
const on = (...sites: string[]): string[] => sites.map((site) => `http://*.${site}.localhost/*`);

interface MockPort {
  /** Posted messages, parsed from JSON, oldest first. Readers remove what they read. */
  posted: unknown[];
  say(part: unknown): void;
  /** Closes the other end. Messages on their way are lost. */
  end(): void;
}
interface MockState {
  ports: MockPort[];
  asked: unknown[];
  answer: Answer;
  /** Number of lines that the hook has offered to this window, accepted or not. */
  lines: number;
  tell(message: object): void;
}

/**
 * Runs in the isolated world before the content script: the parts of the extension API that it
 * uses.
 */
function mock(manifest: object, answer: Answer): void {
  type Listener = (message: unknown) => void;
  const asJson = (v: unknown): unknown => JSON.parse(JSON.stringify(v));
  const told: Listener[] = [];
  const state: MockState = {
    ports: [],
    asked: [],
    answer,
    lines: 0,
    tell: (message) => told.forEach((listener) => listener(message)),
  };
  addEventListener(
    'vfscope',
    (event) => void ((event as Partial<MessageEvent>).ports?.length && state.lines++),
    true,
  );
  const connect = ({ name }: { name: string }): object => {
    const heard: Listener[] = [];
    const ended: (() => void)[] = [];
    let open = true;
    const port: MockPort = {
      posted: [],
      say: (part) => open && heard.forEach((listener) => listener(asJson(part))),
      end() {
        open = false;
        ended.forEach((listener) => listener());
      },
    };
    state.ports.push(port);
    return {
      name,
      onMessage: {
        addListener(listener: Listener) {
          heard.push(listener);
          // the background's first message
          setTimeout(() => port.say({ json: '{"k":"greeting"}', more: false }));
        },
      },
      onDisconnect: { addListener: (listener: () => void) => void ended.push(listener) },
      postMessage(part: unknown) {
        if (!open) throw new Error('Attempting to use a disconnected port object');
        port.posted.push(asJson(part));
      },
      disconnect: () => void (open = false),
    };
  };
  /** The blob: URL from which all pages of the origin start this SharedWorker. */
  const agreed = ({ key, url, dead }: { key: string; url: string; dead: string[] }): string => {
    const known = localStorage.getItem(`mock ${key}`);
    if (known !== null && !dead.includes(known)) return known;
    localStorage.setItem(`mock ${key}`, url);
    return url;
  };
  const runtime = {
    id: 'mock', // exists only if the extension is installed
    getManifest: () => manifest,
    getURL: (file: string) => `safari-web-extension://mock/${file}`,
    connect,
    sendMessage(message: { k: string; key: string; url: string; dead: string[] }) {
      state.asked.push(message);
      return Promise.resolve(message.k === 'shared' ? agreed(message) : asJson(state.answer));
    },
    onMessage: { addListener: (listener: Listener) => void told.push(listener) },
  };
  Object.assign(globalThis, { browser: { runtime }, vfscopeMock: state });
}

export interface IsolatedWebKit extends DrivenWebKit {
  /** The built script. */
  hook: string;
  content: string;
}

/**
 * Starts a browser in which documents of `SITES` get Safari's scripts.
 * @param windows number of windows to open
 * @throws if the browser, or what its program needs, is missing
 */
export async function launchIsolated(answer: Answer, windows = 1): Promise<IsolatedWebKit> {
  const needed = "import gi; gi.require_version('WebKit2', '4.1')";
  try {
    execFileSync(PYTHON, ['-c', needed], { stdio: 'pipe' });
  } catch (e) {
    throw new Error(
      'A window with isolated worlds needs: apt-get install python3-gi gir1.2-webkit2-4.1',
      { cause: e },
    );
  }
  const built = (file: string): Promise<string> => readFile(path.join(SAFARI_BUILD, file), 'utf8');
  const [hook, shares, content, manifest] = await Promise.all([
    built('hooks.js'),
    built(SHARED_SCRIPT),
    built('content.js'),
    built('manifest.json'),
  ]);
  const start = `(${String(mock)})(${manifest}, ${JSON.stringify(answer)});`;
  const scripts = [
    { source: start, world: WORLD, at: 'start', on: on(...Object.values(SITES)) },
    { source: content, world: WORLD, at: 'start', on: on(SITES.both, SITES.content, SITES.shared) },
    { source: shares, world: '', at: 'start', on: on(SITES.shared) },
    { source: hook, world: '', at: 'start', on: on(SITES.both, SITES.hook, SITES.shared) },
  ];
  const folder = await mkdtemp(path.join(tmpdir(), 'vfscope-worlds-'));
  const file = path.join(folder, 'scripts.json');
  await writeFile(file, JSON.stringify(scripts));
  const program = [PYTHON, PROGRAM];
  const driven = await launchWebKit(
    (profile) => [...program, profile, FEATURES, file, String(windows)],
    windows,
  );
  const close = async (): Promise<void> => {
    await driven.close();
    await rm(folder, { recursive: true, force: true });
  };
  return { ...driven, close, hook, content };
}

/** Results of a script over the mocks' states, one for each frame. */
export const asksIn = <R>(
  page: InspectedPage,
  script: (state: MockState) => R,
): Promise<Awaited<R>[]> =>
  page.evaluateInWorlds(WORLD, `(${String(script)})(vfscopeMock)`) as Promise<Awaited<R>[]>;

/**
 * The other end of one document's relay: does what the background and the panel do with its ports.
 */
export class FarEnd {
  private readers: PartReader[] = [];
  private relay: RelayEnd | null = null;
  private outgoing: object[] = [];

  constructor(
    private readonly page: InspectedPage,
    private readonly onPort: (port: MessagePort) => void,
  ) {}

  /** Receives what the content script has posted, and sends it what is pending. */
  async pump(): Promise<void> {
    const [posted] = await asksIn(this.page, ({ ports }) =>
      ports.map((port) => port.posted.splice(0)),
    );
    for (const [i, parts] of posted!.entries()) {
      if (i >= this.readers.length) {
        this.readers.push(new PartReader());
        this.outgoing = []; // messages for the previous port are lost with it
      }
      for (const part of parts) this.take(this.readers[i]!.take(part));
    }
    for (const message of this.outgoing.splice(0))
      for (const part of toParts(message, 50_000))
        await this.page.evaluateInWorlds(
          WORLD,
          `vfscopeMock.ports.at(-1).say(${JSON.stringify(part)})`,
        );
  }

  /**
   * The background dies: pending messages are lost in both directions. @returns number of messages
   * lost from the page
   */
  async die(): Promise<number> {
    this.outgoing = [];
    const [lost] = await asksIn(this.page, ({ ports }) => {
      const port = ports.at(-1)!;
      const { length } = port.posted.splice(0);
      port.end();
      return length;
    });
    return lost!;
  }

  private take(whole: { message: unknown } | null): void {
    if (!whole) return;
    const { message } = whole;
    if (!isRelayMessage(message))
      throw new TypeError(`no message of a relay: ${JSON.stringify(message)}`);
    if (this.relay && message.source !== this.relay.source)
      throw new Error('a second relay in this document');
    this.relay ??= new RelayEnd(
      message.source,
      (answer: RelayMessage) => void this.outgoing.push(answer),
      this.onPort,
    );
    this.relay.receive(message);
  }
}
