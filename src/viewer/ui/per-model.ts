/** What there is once for each viewer, and lives as long as it. @param make of the viewer's model, when it is first asked for */
export function perModel<Model extends object, T>(make: (model: Model) => T): (model: Model) => T {
  const made = new WeakMap<Model, T>();
  return (model) => {
    if (!made.has(model)) made.set(model, make(model));
    return made.get(model)!;
  };
}
