/** One message between the host and a tool's process: JSON text, and bytes that JSON would inflate. */
export interface Frame {
  readonly json: string;
  readonly body: Uint8Array | undefined;
}

/** Maximum sizes of one message. */
export interface FrameLimits {
  readonly maxJsonBytes: number;
  readonly maxBodyBytes: number;
}

const headerBytes = 8;

/** `JSON bytes | body bytes | JSON | body`, the two lengths as unsigned 32-bit big-endian integers. */
export function encodeFrame(json: string, body?: Uint8Array): Uint8Array {
  const jsonBytes = Buffer.byteLength(json);
  const bodyBytes = body?.byteLength ?? 0;
  const frame = Buffer.allocUnsafe(headerBytes + jsonBytes + bodyBytes);
  frame.writeUInt32BE(jsonBytes, 0);
  frame.writeUInt32BE(bodyBytes, 4);
  frame.write(json, headerBytes);
  if (body !== undefined) frame.set(body, headerBytes + jsonBytes);
  return frame;
}

/** Thrown by a reader for invalid bytes; the stream cannot continue. */
export class FrameError extends Error {}

/**
 * Reads frames from a stream of chunks. A frame over the limits is rejected before it is buffered; others are buffered
 * once, in their own size.
 */
export class FrameReader {
  readonly #limits: FrameLimits;
  readonly #header: Buffer = Buffer.alloc(headerBytes);
  readonly #decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  #filled = 0;
  #jsonBytes = 0;
  /** JSON and body; `undefined` until the header is complete. */
  #content: Buffer | undefined;

  constructor(limits: FrameLimits) {
    this.#limits = limits;
  }

  /** Yields the frames that end in `chunk`. @throws FrameError */
  *read(chunk: Uint8Array): Generator<Frame, void, undefined> {
    let at = 0;
    while (at < chunk.byteLength) {
      at += this.#fill(chunk, at);
      if (this.#filled < (this.#content ?? this.#header).byteLength) return;
      if (this.#content === undefined) this.#begin();
      if (this.#content?.byteLength === this.#filled) yield this.#take(this.#content);
    }
  }

  #fill(chunk: Uint8Array, at: number): number {
    const target = this.#content ?? this.#header;
    const taken = chunk.subarray(at, at + target.byteLength - this.#filled);
    target.set(taken, this.#filled);
    this.#filled += taken.byteLength;
    return taken.byteLength;
  }

  #begin(): void {
    const jsonBytes = this.#header.readUInt32BE(0);
    const bodyBytes = this.#header.readUInt32BE(4);
    const { maxJsonBytes, maxBodyBytes } = this.#limits;
    if (jsonBytes === 0 || jsonBytes > maxJsonBytes || bodyBytes > maxBodyBytes)
      throw new FrameError(`a message of ${jsonBytes} and ${bodyBytes} bytes`);
    this.#jsonBytes = jsonBytes;
    this.#content = Buffer.allocUnsafeSlow(jsonBytes + bodyBytes);
    this.#filled = 0;
  }

  #take(content: Buffer): Frame {
    this.#content = undefined;
    this.#filled = 0;
    let json: string;
    try {
      json = this.#decoder.decode(content.subarray(0, this.#jsonBytes));
    } catch {
      throw new FrameError('a message that is not UTF-8');
    }
    const body = content.byteLength > this.#jsonBytes ? content.subarray(this.#jsonBytes) : undefined;
    return { json, body };
  }
}
