/**
 * `--capture`, `--layers`, `--stacks`, `--messages`, `--instructions`, and `--buffer` as what a
 * recording captures.
 */
import {
  BUFFER_KIB,
  CAPTURED_LAYERS,
  type CapturedLayer,
  type CaptureLevel,
  type CaptureOptions,
} from '../event/capture.ts';
import { wrongUse } from '../terminal/failure.ts';

interface CaptureArgs {
  capture?: string;
  layers?: string;
  stacks?: boolean;
  messages?: boolean;
  instructions?: boolean;
  buffer?: string;
}

/**
 * @returns undefined if no option was given @throws CommandFailure (exit code 2) that lists the
 * valid values
 */
export function captureOf({
  capture,
  layers,
  stacks,
  messages,
  instructions,
  buffer,
}: CaptureArgs): Partial<CaptureOptions> | undefined {
  const chosen: Partial<CaptureOptions> = {
    ...(capture === undefined ? {} : { capture: level(capture) }),
    ...(layers === undefined ? {} : { layers: layerList(layers) }),
    ...(stacks ? { stacks } : {}),
    ...(messages ? { messages } : {}),
    ...(instructions ? { instructions } : {}),
    ...(buffer === undefined ? {} : { buffer: kib(buffer) }),
  };
  return Object.keys(chosen).length ? chosen : undefined;
}

function level(text: string): CaptureLevel {
  if (!/^[0-3]$/.test(text))
    throw wrongUse(
      `--capture ${text}: expected 0 (no SQL text), 1 (literals folded), 2 (with literals), or 3 (also bound values).`,
    );
  return Number(text) as CaptureLevel;
}

function layerList(text: string): CapturedLayer[] {
  const asked = text.split(',').map((word) => word.trim());
  const unknown = asked.filter((word) => !CAPTURED_LAYERS.some((layer) => layer === word));
  if (unknown.length)
    throw wrongUse(`--layers ${text}: expected some of ${CAPTURED_LAYERS.join(',')}.`);
  return CAPTURED_LAYERS.filter((layer) => asked.includes(layer));
}

function kib(text: string): number {
  const n = Number(text);
  if (!BUFFER_KIB.includes(n))
    throw wrongUse(
      `--buffer ${text}: expected ${BUFFER_KIB.join(', ')} (KiB of each thread's event buffer).`,
    );
  return n;
}
