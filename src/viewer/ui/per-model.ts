/**
 * Something that exists once per viewer and lives as long as it. @param make creates it from the
 * viewer's model on first use
 */
export function perModel<Model extends object, T>(make: (model: Model) => T): (model: Model) => T {
  const made = new WeakMap<Model, T>();
  return (model) => {
    if (!made.has(model)) made.set(model, make(model));
    return made.get(model)!;
  };
}
