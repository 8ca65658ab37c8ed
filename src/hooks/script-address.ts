/**
 * Converts arguments to strings as the platform would. The app's own code that does this runs once,
 * as without us.
 */
import type { Refusal } from '../protocol/page-policy.ts';

/** An object of Trusted Types: the platform takes it unchanged. */
export const isScriptUrl = (value: unknown): boolean =>
  !!(
    globalThis as { trustedTypes?: { isScriptURL?(value: unknown): boolean } }
  ).trustedTypes?.isScriptURL?.(value); // apps' polyfills lack it

/**
 * Must this script's address stay an object, for Trusted Types? Else it is a string from now on, if
 * Trusted Types made it.
 * @param refused by the policies here
 */
export function mustStayTrusted(args: unknown[], refused: readonly Refusal[]): boolean {
  const types = (globalThis as { trustedTypes?: { defaultPolicy: unknown } }).trustedTypes;
  if (!isScriptUrl(args[0]) && !types?.defaultPolicy) return false;
  if (refused.includes('types') || !refused.includes('lifted')) return true;
  args[0] = String(args[0]);
  return false;
}

/**
 * Converts the address of a script and these of its options to what the platform would read. If the
 * app's code throws, the platform throws in its own way when it reads the address.
 */
export function convertOnce(args: unknown[], ...keys: string[]): void {
  if (!args.length || isScriptUrl(args[0])) return;
  try {
    args[0] = `${args[0] as string}`;
    const options = args[1] as Record<string, unknown>;
    if (!keys.length || Object(options) !== options) return;
    const texts: Record<string, string | boolean | undefined> = {};
    for (const key of keys) {
      const value = options[key];
      texts[key] =
        value === undefined ? value : key === 'extendedLifetime' ? !!value : `${value as string}`;
    }
    args[1] = { __proto__: options, ...texts };
  } catch (e) {
    args[0] = {
      toString(): never {
        throw e;
      },
    };
  }
}

/** The same for the arguments of a worker's constructor, in the platform's order. */
export const convertWorkerOnce = (args: unknown[]): void =>
  convertOnce(args, 'credentials', 'name', 'type');
export const convertSharedOnce = (args: unknown[]): void =>
  convertOnce(args, 'credentials', 'name', 'type', 'extendedLifetime', 'sameSiteCookies');
