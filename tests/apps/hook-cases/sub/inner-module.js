// Imported by a module worker.
export const inner = 'inner module';
