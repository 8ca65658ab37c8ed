/**
 * The platform's own reflection, taken before the app's first line, for the app could put others in their place; and what can be learned
 * of the app's values without running its code.
 */
export const { apply, construct } = Reflect;
export const { defineProperty } = Object;
const { getOwnPropertyDescriptor } = Object;

/** The platform's getter of a prototype's property; undefined where there is none. */
export const getterOf = (prototype: object, name: PropertyKey): (() => unknown) =>
  getOwnPropertyDescriptor(prototype, name)?.get as () => unknown;

/** An own data property; undefined for accessors, which are the app's code. */
export const dataProperty = (object: object, name: PropertyKey): unknown =>
  getOwnPropertyDescriptor(object, name)?.value;

/** Gives an object a property of its own, as a class's field would be. @throws TypeError where the object is frozen */
export const define = (
  object: object,
  name: PropertyKey,
  value: unknown,
  writable = false,
): object =>
  defineProperty(object, name, { value, writable, configurable: true, enumerable: true });

const isPrimitive = (value: unknown): boolean =>
  value === null || (typeof value !== 'object' && typeof value !== 'function');
/** What a call makes of a number argument; NaN = not known: what an object converts to is the app's code, which runs once. */
export const numberOf = (value: unknown): number => (isPrimitive(value) ? Number(value) : NaN);
/** The same of a text argument. */
export const textOf = (value: unknown): string => (isPrimitive(value) ? String(value) : '(object)');
