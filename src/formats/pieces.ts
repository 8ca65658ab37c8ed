/** Texts joined to pieces of about 64 KiB. The thread can do other work between two pieces. */
export async function* inPieces(texts: Iterable<string>): AsyncGenerator<string> {
  let piece = '';
  for (const text of texts) {
    piece += text;
    if (piece.length < 1 << 16) continue;
    yield piece;
    piece = '';
    await Promise.resolve();
  }
  if (piece) yield piece;
}
