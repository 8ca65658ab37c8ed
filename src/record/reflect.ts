/**
 * The platform's own reflection, captured before the app's first line because the app could replace
 * it; and what can be learned about the app's values without running its code.
 */
export const { apply, construct } = Reflect;
export const { defineProperty } = Object;
const { getOwnPropertyDescriptor } = Object;

/** The platform's getter of a prototype's property; undefined if there is none. */
export const getterOf = (prototype: object, name: PropertyKey): (() => unknown) =>
  getOwnPropertyDescriptor(prototype, name)?.get as () => unknown;

/** An own data property; undefined for accessors, which are the app's code. */
export const dataProperty = (object: object, name: PropertyKey): unknown =>
  getOwnPropertyDescriptor(object, name)?.value;

/** Defines an own property, as a class field does. @throws TypeError if the object is frozen */
export const define = (
  object: object,
  name: PropertyKey,
  value: unknown,
  writable = false,
): object =>
  defineProperty(object, name, { value, writable, configurable: true, enumerable: true });

const isPrimitive = (value: unknown): boolean =>
  value === null || (typeof value !== 'object' && typeof value !== 'function');
/**
 * A number argument as a call converts it. NaN = not known: an object's conversion runs the app's
 * code, which must run only once.
 */
export const numberOf = (value: unknown): number => (isPrimitive(value) ? Number(value) : NaN);
/** The same for a text argument. */
export const textOf = (value: unknown): string => (isPrimitive(value) ? String(value) : '(object)');
