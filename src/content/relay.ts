/**
 * The fallback if no port can be handed over: everything goes through runtime.Port and the
 * background, which is slower.
 */
import { connectLasting } from '../platform/lasting-port.ts';
import { relayPortName, type RelayMessage } from '../protocol/messages.ts';
import { drawName, RelayEnd } from '../protocol/relay.ts';

let end: RelayEnd | null = null;

/** Relay this port of the page to the panel. */
export function relay(port: MessagePort): void {
  end ??= connect();
  end.carry(port);
}

function connect(): RelayEnd {
  const source = drawName();
  const wire = connectLasting<RelayMessage, RelayMessage>(relayPortName(source), {
    onMessage: (message) => relayEnd.receive(message),
    onReconnect: () => relayEnd.repair(),
    onOrphaned: () => {
      relayEnd.close();
      end = null;
    },
  });
  const relayEnd = new RelayEnd(source, (message) => wire.post(message));
  return relayEnd;
}
