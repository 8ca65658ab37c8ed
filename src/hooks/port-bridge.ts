/** Connects two ports as if they were one line: each sends what the other receives. */
import { dataOf, listen, portClose, portListen, portPostAll, portsOf } from './natives.ts';

/** From now on, in both directions. */
export function bridge(one: MessagePort, other: MessagePort): void {
  for (const [from, to] of [
    [one, other],
    [other, one],
  ] as const) {
    listen(from, 'close', () => portClose(to));
    portListen(from, (event) => {
      const [data, ports] = [dataOf(event), portsOf(event)];
      // the received data is ours, so it can be transferred: streams and canvases can't be copied
      portPostAll(to, data, [...ports, ...transferablesIn(data)]);
    });
  }
}

const KINDS = [
  'ArrayBuffer',
  'OffscreenCanvas',
  'ReadableStream',
  'WritableStream',
  'TransformStream',
  'VideoFrame',
  'AudioData',
  'RTCDataChannel',
  'MediaSourceHandle',
];

/** The transferable parts of a message, except ports. */
function transferablesIn(
  data: unknown,
  seen = new Set<unknown>(),
  found = new Set<Transferable>(),
): Set<Transferable> {
  if (typeof data !== 'object' || data === null || seen.has(data)) return found;
  seen.add(data);
  const kind = Object.prototype.toString.call(data).slice(8, -1);
  if (KINDS.includes(kind)) found.add(data as Transferable);
  else if (ArrayBuffer.isView(data)) {
    if (data.buffer instanceof ArrayBuffer) found.add(data.buffer);
  } else if (data instanceof Map)
    for (const [key, value] of data) {
      transferablesIn(key, seen, found);
      transferablesIn(value, seen, found);
    }
  else if (data instanceof Set) for (const value of data) transferablesIn(value, seen, found);
  else if (kind === 'Object' || kind === 'Array')
    for (const value of Object.values(data)) transferablesIn(value, seen, found);
  return found;
}
