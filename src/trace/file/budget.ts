/**
 * Limits what a file may cost its reader: little at first, and more with its size. Words (threads,
 * definitions, and their texts) and events are counted before memory for them is allocated. A
 * recording stays below what every file may have (MAX_RECORDED_WORDS, MAX_RECORDED_EVENTS).
 */
import { formatBytes } from '../../text/numbers.ts';
import { DEFINITION_BYTES } from '../store.ts';
import { MalformedError } from './bytes.ts';
import { MAX_EVENTS, MAX_THREADS, TraceFileError } from './format.ts';

const MiB = 1 << 20;
/**
 * Limit of words, in bytes of JSON plus DEFINITION_BYTES for each definition: this much for every
 * file, and more for each of its bytes.
 */
export const FREE_WORDS = 40 * MiB;
const WORDS_A_BYTE = 4;
/**
 * Limit of events: this many for every file, and more for each of its bytes. Usually an event takes
 * 0.2 to 6 bytes.
 */
const FREE_EVENTS = 4_000_000;
const EVENTS_A_BYTE = 32;
/**
 * Maximum unpacked bytes of an event: 15 columns of numbers of up to 8 bytes, and columns of later
 * writers.
 */
const EVENT_BYTES = 160;
const SECTION_BYTES = 65_536;
/** Fixed cost of unpacking, in bytes. */
const UNPACKING_BYTES = 16_384;
/**
 * Limit of unpacked columns in bytes: this much for every file, and more for each of its bytes.
 * Usually an event takes 13 to 18.
 */
const FREE_UNPACKED = 256 * MiB;
const UNPACKED_A_BYTE = 128;

/** A recording's definitions stop growing here. */
export const MAX_RECORDED_WORDS = FREE_WORDS - 4 * MiB;
/** A recording stops growing here. A file with this many events can be opened again completely. */
export const MAX_RECORDED_EVENTS = 40_000_000;

export class FileBudget {
  private words = 0;
  private unpacked = 0;
  private readonly mostWords: number;
  private readonly mostUnpacked: number;
  /** Events beyond this number are left out. */
  readonly mostEvents: number;

  constructor(fileBytes: number, maxEvents = MAX_EVENTS) {
    this.mostWords = FREE_WORDS + fileBytes * WORDS_A_BYTE;
    this.mostUnpacked = FREE_UNPACKED + fileBytes * UNPACKED_A_BYTE;
    this.mostEvents = Math.min(maxEvents, FREE_EVENTS + fileBytes * EVENTS_A_BYTE);
  }

  /** Bytes of JSON that may still come. */
  get wordsLeft(): number {
    return this.mostWords - this.words;
  }
  /** @throws TraceFileError if that is too much */
  takeWords(jsonBytes: number, definitions = 0): void {
    this.words += jsonBytes + definitions * DEFINITION_BYTES;
    if (this.words > this.mostWords) throw this.tooManyWords();
  }
  /**
   * Check JSON before it is parsed, because a few bytes can become an object. This counts
   * definitions as less than `takeWords` does.
   * @throws TraceFileError like `takeWords`
   */
  checkJson(json: Uint8Array): void {
    if (weightOf(json, this.wordsLeft) > this.wordsLeft) throw this.tooManyWords();
  }
  tooManyWords(): TraceFileError {
    return tooLarge(
      `its threads, SQL texts, and other names unpack to more than ${formatBytes(this.mostWords)}, the most that a file of its size may hold`,
    );
  }
  /** @throws TraceFileError */
  checkThreads(threads: number): void {
    if (threads > MAX_THREADS)
      throw tooLarge(`it describes more than ${MAX_THREADS} threads, the maximum`);
  }

  /**
   * Call before columns of this many events, or ends, are unpacked.
   * @returns bytes that they may unpack to
   * @throws MalformedError if the file has unpacked to too much
   */
  unpackedBytes(events: number): number {
    const left = this.mostUnpacked - this.unpacked;
    if (left < 0)
      throw new MalformedError(
        `the events of the file unpack to more than ${formatBytes(this.mostUnpacked)}, the most that a file of its size may hold`,
      );
    return SECTION_BYTES + Math.min(left, events * EVENT_BYTES);
  }
  /** Call after they were unpacked. */
  takeUnpacked(bytes: number): void {
    this.unpacked += UNPACKING_BYTES + bytes;
  }
}

/**
 * Minimum bytes of parts of a JSON text once they are parsed: an object or list, a member, an item.
 */
const [CONTAINER_BYTES, MEMBER_BYTES, ITEM_BYTES] = [DEFINITION_BYTES / 2, 12, 4];
/**
 * Definitions have about 60 names of members. JavaScript engines are slow at objects whose names no
 * other object has.
 */
const MOST_NAMES = 256;
const [QUOTE, BACKSLASH, BRACKET, BRACE, COLON, COMMA] = [0x22, 0x5c, 0x5b, 0x7b, 0x3a, 0x2c];
/** @param most counting may stop here @returns Infinity if members have too many names */
function weightOf(json: Uint8Array, most: number): number {
  const names = new Set<number>();
  let bytes = 0;
  let hash = 0; // of the last text
  for (let i = 0; i < json.length && bytes <= most; i++) {
    const byte = json[i]!;
    if (byte === COMMA) bytes += ITEM_BYTES;
    else if (byte === COLON) bytes += names.add(hash).size > MOST_NAMES ? Infinity : MEMBER_BYTES;
    else if (byte === BRACE || byte === BRACKET) bytes += CONTAINER_BYTES;
    else if (byte === QUOTE) {
      hash = 0;
      for (i++; i < json.length && json[i] !== QUOTE; i++) {
        if (json[i] === BACKSLASH) i++;
        hash = (Math.imul(hash, 31) + json[i]!) | 0;
      }
    }
  }
  return bytes;
}

const tooLarge = (what: string): TraceFileError =>
  new TraceFileError(
    'too large',
    `The trace file is too large to open: ${what}. vfscope doesn't save such files. Record again for a shorter time, or get the file again from its source.`,
  );
