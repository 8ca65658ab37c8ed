/**
 * A runtime.Port that carries everything that structured clones carry, in every browser: unchanged,
 * or in Safari as JSON texts.
 */
import { PartReader, toParts } from '../protocol/json-wire.ts';
import { isSafariBuild } from './safari.ts';

/** The part of runtime.Port that we use. */
export interface WirePort {
  readonly name: string;
  readonly sender?: chrome.runtime.MessageSender;
  readonly onMessage: { addListener(listener: (message: unknown) => void): void };
  readonly onDisconnect: { addListener(listener: () => void): void };
  /** @throws where the port is closed */
  postMessage(message: unknown): void;
  disconnect(): void;
}

/** Both ends of a port must be wrapped by this. */
export const wirePort = (port: chrome.runtime.Port): WirePort =>
  isSafariBuild() ? overJson(port) : port;

/** The port with messages as JSON texts. */
function overJson(port: chrome.runtime.Port): WirePort {
  const reader = new PartReader();
  const listeners: ((message: unknown) => void)[] = [];
  const onPart = (part: unknown): void => {
    const whole = reader.take(part);
    if (whole) for (const listener of listeners) listener(whole.message);
  };
  return {
    name: port.name,
    ...(port.sender ? { sender: port.sender } : {}),
    onDisconnect: port.onDisconnect,
    onMessage: {
      addListener(listener) {
        if (listeners.push(listener) === 1) port.onMessage.addListener(onPart);
      },
    },
    postMessage(message) {
      for (const part of toParts(message)) port.postMessage(part);
    },
    disconnect: () => port.disconnect(),
  };
}
