// A replacement, not WebKit's own: WebKitGTK has FileSystemSyncAccessHandle, but can't open one
// ("Backend does not support this operation"; only Apple's ports can). This one keeps the bytes in
// the worker's memory behind the real prototypes, so the hook patches the same methods as in
// Safari. Identifies files by name. Runs before the hook, as a separate script.
if (typeof FileSystemSyncAccessHandle === 'function') {
  const contents = new Map();
  const opened = new WeakMap();
  const bytesOf = (view) =>
    ArrayBuffer.isView(view)
      ? new Uint8Array(view.buffer, view.byteOffset, view.byteLength)
      : new Uint8Array(view);
  const fileOf = (handle) => {
    const state = opened.get(handle);
    if (!state || state.closed) throw new DOMException('The handle is closed', 'InvalidStateError');
    return state.file;
  };
  const resize = (file, size) => {
    const grown = new Uint8Array(size);
    grown.set(file.bytes.subarray(0, size));
    file.bytes = grown;
  };
  const methods = {
    read(buffer, { at = 0 } = {}) {
      const found = fileOf(this).bytes.subarray(at, at + buffer.byteLength);
      bytesOf(buffer).set(found);
      return found.length;
    },
    write(buffer, { at = 0 } = {}) {
      const file = fileOf(this);
      if (at + buffer.byteLength > file.bytes.length) resize(file, at + buffer.byteLength);
      file.bytes.set(bytesOf(buffer), at);
      return buffer.byteLength;
    },
    truncate(size) {
      resize(fileOf(this), size);
    },
    getSize() {
      return fileOf(this).bytes.length;
    },
    flush() {
      fileOf(this);
    },
    close() {
      const state = opened.get(this);
      if (state && !state.closed) state.file.open = false;
      if (state) state.closed = true;
    },
  };
  for (const [name, value] of Object.entries(methods))
    Object.defineProperty(FileSystemSyncAccessHandle.prototype, name, {
      value,
      writable: true,
      configurable: true,
      enumerable: true,
    });
  FileSystemFileHandle.prototype.createSyncAccessHandle = async function createSyncAccessHandle() {
    const file = contents.get(this.name) ?? { bytes: new Uint8Array(0), open: false };
    if (file.open) throw new DOMException('The file is open', 'NoModificationAllowedError');
    file.open = true;
    contents.set(this.name, file);
    const handle = Object.create(FileSystemSyncAccessHandle.prototype);
    opened.set(handle, { file, closed: false });
    return handle;
  };
  const { removeEntry } = FileSystemDirectoryHandle.prototype;
  FileSystemDirectoryHandle.prototype.removeEntry = async function (name, options) {
    await Reflect.apply(removeEntry, this, [name, options]);
    contents.delete(name);
  };
}
