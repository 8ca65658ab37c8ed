/**
 * Messages as JSON texts, for browsers whose runtime.Port carries nothing else (Safari). Bytes
 * travel as base64, numbers that JSON lacks by name, and messages above the browser's limit in
 * several texts. Ports that clone their messages need none of this.
 */

/** One text of a message. The message is complete with its last text. */
interface JsonPart {
  json: string;
  more: boolean;
}

/** Characters of a text. Safari takes 64 Mi in a message, and writes each text as JSON again. */
const MAX_PART_CHARS = 8 << 20;
/** Characters of a reassembled message. Honest messages are far smaller. */
const MAX_MESSAGE_CHARS = 256 << 20;
const BYTES = '$bytes';
const NUMBER = '$number';
/** Arguments of one call; a multiple of 3, so that base64 needs no padding in between. */
const BASE64_STEP = 3 * 8192;

/** @returns the texts to send, in order */
export function* toParts(message: unknown, max = MAX_PART_CHARS): Generator<JsonPart> {
  const json = JSON.stringify(message, replaced);
  for (let at = 0; at < json.length; at += max)
    yield { json: json.slice(at, at + max), more: at + max < json.length };
}

/** Reassembles the messages of one port. */
export class PartReader {
  private parts: string[] = [];
  private chars = 0;

  /**
   * @returns the message, once it is complete.
   * @throws where this isn't a part, or the parts never end
   */
  take(part: unknown): { message: unknown } | null {
    if (!isPart(part)) throw new TypeError('a part of a message was expected');
    this.parts.push(part.json);
    this.chars += part.json.length;
    if (part.more && this.chars <= MAX_MESSAGE_CHARS) return null;
    const text = this.parts.join('');
    this.parts = [];
    this.chars = 0;
    if (part.more)
      throw new RangeError(`a message of more than ${MAX_MESSAGE_CHARS} characters is refused`);
    return { message: JSON.parse(text, revived) };
  }
}

const isPart = (v: unknown): v is JsonPart => {
  const { json, more } = (v ?? {}) as Partial<JsonPart>;
  return typeof json === 'string' && typeof more === 'boolean';
};

function replaced(_key: string, value: unknown): unknown {
  if (value instanceof ArrayBuffer) return { [BYTES]: toBase64(new Uint8Array(value)) };
  return typeof value === 'number' && !Number.isFinite(value) ? { [NUMBER]: String(value) } : value;
}

function revived(_key: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  const { [BYTES]: bytes, [NUMBER]: number } = value as Record<string, unknown>;
  if (typeof bytes === 'string') return fromBase64(bytes);
  return typeof number === 'string' ? Number(number) : value;
}

/** In chunks that fit into the arguments of one call. */
export function toBase64(bytes: Uint8Array): string {
  let text = '';
  for (let at = 0; at < bytes.length; at += BASE64_STEP)
    text += btoa(String.fromCharCode(...bytes.subarray(at, at + BASE64_STEP)));
  return text;
}

function fromBase64(text: string): ArrayBuffer {
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i);
  return bytes.buffer;
}
