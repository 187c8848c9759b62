// What a host is told of one call, and what a call may print at all, in bytes.
const maxToldBytes = 64 * 1024;
const maxBytes = 64 * 1024 * 1024;

/** What a tool prints, cut to a size that anybody can take. */
export class PrintedText {
  readonly #tell: (text: string) => void;
  #decoder = new TextDecoder();
  #bytes = 0;

  constructor(tell: (text: string) => void) {
    this.#tell = tell;
  }

  /** A call begins. */
  begin(): void {
    this.#bytes = 0;
    this.#decoder = new TextDecoder();
  }

  /** False when it is more than a call may print. */
  add(chunk: Uint8Array): boolean {
    const told = chunk.subarray(0, Math.max(0, maxToldBytes - this.#bytes));
    this.#bytes += chunk.byteLength;
    if (told.byteLength > 0) this.#tell(this.#decoder.decode(told, { stream: true }));
    if (told.byteLength > 0 && this.#bytes >= maxToldBytes) this.#tell('\n[what follows is left out]\n');
    return this.#bytes <= maxBytes;
  }
}
