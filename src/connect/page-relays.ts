/**
 * Documents of a page over CDP: each gets the hook and a relay script (content/over-cdp.ts), and
 * all their threads report to one recording.
 */
import type { CDPSession } from 'puppeteer-core';
import { CONNECT_HEAR, CONNECT_LEAVE, CONNECT_SAY, CONNECT_WORLD } from '../protocol/connect.ts';
import { PartReader, toParts } from '../protocol/json-wire.ts';
import { isRelayMessage } from '../protocol/messages.ts';
import { RelayEnd } from '../protocol/relay.ts';

interface Scripts {
  /** In an isolated world. */
  relay: string;
  /** In the page's main world. */
  hook: string;
}
/** Of one document. */
interface Relay {
  readonly session: CDPSession;
  readonly context: number;
  readonly reader: PartReader;
  readonly end: RelayEnd;
}

export class PageRelays {
  private readonly relays = new Map<string, Relay>();
  /** Of all documents, including closed ones whose last messages may still arrive. */
  private readonly ends: RelayEnd[] = [];
  private readonly sessions = new Map<CDPSession, string[]>();

  /** @param onPort receives the threads' ports as if they had been handed over */
  constructor(
    private readonly scripts: Scripts,
    private readonly onPort: (port: MessagePort) => void,
  ) {}

  /**
   * Adds the scripts to each new document of this page or frame, and of its child frames in other
   * processes.
   */
  async follow(session: CDPSession): Promise<void> {
    const ids: string[] = [];
    this.sessions.set(session, ids);
    // the next document may be in another process, where context ids start again
    session.on('Runtime.executionContextsCleared', () => {
      for (const [key, relay] of this.relays)
        if (relay.session === session) this.relays.delete(key);
    });
    session.on('Target.detachedFromTarget', ({ sessionId }) => {
      for (const gone of this.sessions.keys())
        if (gone.id() === sessionId) this.sessions.delete(gone); // it wouldn't answer
    });
    session.on('Runtime.bindingCalled', ({ name, payload, executionContextId }) => {
      if (name === CONNECT_SAY) this.hear(session, executionContextId, payload);
    });
    session.on('Target.attachedToTarget', ({ sessionId }) => {
      const frame = session.connection()?.session(sessionId);
      if (!frame) return;
      // a paused frame answers some commands only after it resumes, so don't wait for any; they run
      // in order
      void this.follow(frame).catch(() => {}); // it was closed
      void frame.send('Runtime.runIfWaitingForDebugger').catch(() => {});
    });
    const scripts = [
      { source: this.scripts.relay, worldName: CONNECT_WORLD },
      { source: this.scripts.hook },
    ];
    const answers = await Promise.all([
      ...scripts.map((script) => session.send('Page.addScriptToEvaluateOnNewDocument', script)),
      session.send('Page.enable'),
      session.send('Runtime.enable'), // otherwise bindings call nothing
      session.send('Runtime.addBinding', {
        name: CONNECT_SAY,
        executionContextName: CONNECT_WORLD,
      }),
      session.send('Target.setAutoAttach', {
        autoAttach: true,
        waitForDebuggerOnStart: true,
        flatten: true,
        filter: [{ type: 'iframe' }],
      }),
    ]);
    for (const answer of answers) if (answer && 'identifier' in answer) ids.push(answer.identifier);
  }

  private hear(session: CDPSession, context: number, payload: string): void {
    const key = `${session.id()} ${context}`;
    let relay = this.relays.get(key);
    if (!relay) {
      const end = new RelayEnd(
        key,
        (message) => {
          for (const part of toParts(message))
            void this.call(relay!, CONNECT_HEAR, JSON.stringify(part));
        },
        this.onPort,
      );
      relay = { session, context, reader: new PartReader(), end };
      this.relays.set(key, relay);
      this.ends.push(end);
    }
    const whole = relay.reader.take(JSON.parse(payload));
    if (whole && isRelayMessage(whole.message)) relay.end.receive(whole.message);
  }

  /** Runs in the document's isolated world. The document may be closed. */
  private call({ session, context }: Relay, name: string, text = ''): Promise<void> {
    return session
      .send('Runtime.evaluate', {
        expression: `${name}(${JSON.stringify(text)})`,
        contextId: context,
      })
      .then(
        () => {},
        () => {},
      );
  }

  /** Removes our scripts from all documents, and adds none to new ones. */
  async leave(): Promise<void> {
    await Promise.all([...this.relays.values()].map((relay) => this.call(relay, CONNECT_LEAVE)));
    for (const end of this.ends) end.close();
    // frames before their page, because frames can't answer after their page's session ends
    for (const [session, ids] of [...this.sessions].reverse()) {
      for (const identifier of ids)
        await session
          .send('Page.removeScriptToEvaluateOnNewDocument', { identifier })
          .catch(() => {}); // its frame was closed
      await session.detach().catch(() => {});
    }
  }
}
