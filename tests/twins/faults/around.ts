/** Wraps a method of the platform, if this realm has it. @param call the browser's own */
export function around(
  type: string,
  name: string,
  replaced: (self: object, args: readonly unknown[], call: () => unknown) => unknown,
): void {
  const { prototype } = ((globalThis as Record<string, unknown>)[type] ?? {}) as {
    prototype?: Record<string, (...args: unknown[]) => unknown>;
  };
  const genuine = prototype?.[name];
  if (!prototype || !genuine) return;
  prototype[name] = function (this: object, ...args: unknown[]): unknown {
    return replaced(this, args, () => Reflect.apply(genuine, this, args));
  };
}
