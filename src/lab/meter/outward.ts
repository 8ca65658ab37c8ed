/**
 * Which functions may lead out of the module before they return. Only there can other code read the
 * counter, so it must be right there.
 */
import { Point, type Flow } from './flow.ts';

/**
 * @returns by function of the module (without imported ones): 1 where a call of it may reach an
 * import, a function table, or throw
 */
export function outwardOf(flow: Flow, importedFunctions: number): Uint8Array {
  const { bodies, kind, arg } = flow;
  const outward = new Uint8Array(bodies.length);
  const callers: number[][] = bodies.map(() => []);
  const found: number[] = [];
  bodies.forEach(({ firstPoint, pastPoint }, i) => {
    let out = false;
    for (let p = firstPoint; p < pastPoint; p++) {
      const point = kind.values[p]! as Point;
      if (point === Point.callOut || point === Point.other) out = true;
      else if (point === Point.call) {
        const callee = arg.values[p]! - importedFunctions;
        if (callee < 0) out = true;
        else callers[callee]?.push(i);
      }
    }
    if (out) {
      outward[i] = 1;
      found.push(i);
    }
  });
  for (let i = found.pop(); i !== undefined; i = found.pop())
    for (const caller of callers[i]!) {
      if (outward[caller]) continue;
      outward[caller] = 1;
      found.push(caller);
    }
  return outward;
}
