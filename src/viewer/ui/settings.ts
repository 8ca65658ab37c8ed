/**
 * The user's permanent choices: read once when the viewer starts, written with every change. The
 * host stores them (the extension's storage, a tab's localStorage). What it returns may be old or
 * tampered with, so every value is validated.
 */
import { get, writable, type Writable } from 'svelte/store';
import { captureOptionsOf, type CaptureOptions } from '../../event/capture.ts';
import { FLIGHT_DEFAULTS, type FlightChoice } from './flight-options.ts';

export type ThemeChoice = 'host' | 'light' | 'dark';

/**
 * The recorder and the options page also read `capture`, `layers`, `buffer`, `stacks`, `messages`,
 * and `instructions`, under these names.
 */
interface Settings extends CaptureOptions {
  theme: ThemeChoice;
  /** Reload the page when a recording starts. */
  reload: boolean;
  flight: FlightChoice;
  /** Add tracks to Chrome's Performance panel while that records. */
  performanceTracks: boolean;
  /** Columns of the Events view, by key; null = the default. */
  eventColumns: string[] | null;
  /** Queries that ran in the Query view, the last one first. */
  sqlHistory: readonly string[];
}
/** Number of stored queries, and the maximum length of each. */
const [MOST_QUERIES, LONGEST_QUERY] = [50, 20_000];

/** Where the host keeps settings: names and plain values. */
export interface SettingsKeeper {
  /** @returns what was written last; {} if nothing was */
  read(): Promise<Record<string, unknown>>;
  write(values: Record<string, unknown>): Promise<void>;
}

function oneOf<T>(known: readonly T[], value: unknown, otherwise: T): T {
  return known.includes(value as T) ? (value as T) : otherwise;
}

/** Stored values as settings. Invalid values become the default. */
export function settingsOf(kept: Record<string, unknown>): Settings {
  return {
    ...captureOptionsOf(kept),
    theme: oneOf<ThemeChoice>(['host', 'light', 'dark'], kept.theme, 'host'),
    reload: kept.reload !== false,
    flight: flightOf(kept.flight),
    performanceTracks: kept.performanceTracks === true,
    eventColumns: keysOf(kept.eventColumns),
    sqlHistory: queriesOf(kept.sqlHistory),
  };
}

function queriesOf(kept: unknown): string[] {
  if (!Array.isArray(kept)) return [];
  return kept
    .filter((sql): sql is string => typeof sql === 'string' && sql.length <= LONGEST_QUERY)
    .slice(0, MOST_QUERIES);
}

/** A list of short texts, or null if it isn't one. */
function keysOf(kept: unknown): string[] | null {
  if (!Array.isArray(kept) || kept.length > 64) return null;
  const keys = kept.filter((key): key is string => typeof key === 'string' && key.length <= 64);
  return keys.length ? keys : null;
}

/** Every field with the default's type. */
function flightOf(kept: unknown): FlightChoice {
  const choice: FlightChoice = { ...FLIGHT_DEFAULTS };
  if (typeof kept !== 'object' || kept === null) return choice;
  const { kind, ...rest } = kept as Record<string, unknown>;
  for (const [key, value] of Object.entries(rest))
    if (Object.hasOwn(choice, key) && typeof value === typeof choice[key as keyof FlightChoice])
      Object.assign(choice, { [key]: value });
  return {
    ...choice,
    kind: oneOf<FlightChoice['kind']>(['everything', 'seconds', 'megabytes'], kind, choice.kind),
  };
}

/** The settings as a store that saves itself. */
export class SettingsModel {
  readonly values: Writable<Settings> = writable(settingsOf({}));

  constructor(
    private readonly keeper: SettingsKeeper | undefined,
    private readonly failed: (message: string) => void,
  ) {}

  /** Whether choices outlast the viewer. */
  get kept(): boolean {
    return this.keeper !== undefined;
  }

  /** Never fails: if nothing can be read, the defaults apply and the user is notified. */
  async read(): Promise<void> {
    try {
      if (this.keeper) this.values.set(settingsOf(await this.keeper.read()));
    } catch (e) {
      this.failed(
        `vfscope couldn't read your settings, and uses the defaults: ${e instanceof Error ? e.message : String(e)}`,
      );
    }
  }

  async change(change: Partial<Settings>): Promise<void> {
    this.values.set(settingsOf({ ...get(this.values), ...change }));
    try {
      await this.keeper?.write(change);
    } catch (e) {
      this.failed(
        `The setting couldn't be saved and lasts until the panel closes: ${e instanceof Error ? e.message : String(e)}`,
      );
    }
  }
}
