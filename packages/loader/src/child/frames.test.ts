import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { encodeFrame, type Frame, FrameError, FrameReader } from './frames.ts';

const limits = { maxJsonBytes: 100, maxBodyBytes: 50 };

function readAll(chunks: readonly Uint8Array[]): readonly Frame[] {
  const reader = new FrameReader(limits);
  return chunks.flatMap((chunk) => [...reader.read(chunk)]);
}

function header(jsonBytes: number, bodyBytes: number): Uint8Array {
  const bytes = Buffer.alloc(8);
  bytes.writeUInt32BE(jsonBytes, 0);
  bytes.writeUInt32BE(bodyBytes, 4);
  return bytes;
}

test('frames are read from chunks of any size', () => {
  const frame = fc.record({
    json: fc.string({ unit: 'binary', minLength: 1, maxLength: 25 }),
    body: fc.option(fc.uint8Array({ minLength: 1, maxLength: 50 }), { nil: undefined }),
  });
  fc.assert(
    fc.property(fc.array(frame, { maxLength: 6 }), fc.array(fc.nat(200)), (frames, cuts) => {
      const stream = Buffer.concat(frames.map(({ json, body }) => encodeFrame(json, body)));
      const chunks: Uint8Array[] = [];
      let at = 0;
      for (const length of cuts) {
        chunks.push(stream.subarray(at, at + length));
        at += length;
      }
      chunks.push(stream.subarray(at));
      const found = readAll(chunks).map(({ json, body }) => ({ json, body: body && [...body] }));
      expect(found).toEqual(frames.map(({ json, body }) => ({ json, body: body && [...body] })));
    }),
    { numRuns: 30 },
  );
});

test.each([
  ['no JSON', header(0, 0)],
  ['too much JSON', header(101, 0)],
  ['too long a body', header(1, 51)],
  ['4 GiB', header(0xffff_ffff, 0xffff_ffff)],
  ['no UTF-8', Buffer.concat([header(2, 0), Buffer.from([0xc3, 0x28])])],
  ['a lone surrogate', Buffer.concat([header(3, 0), Buffer.from([0xed, 0xa0, 0x80])])],
])('%s is refused', (_name, bytes) => {
  expect(() => readAll([bytes])).toThrow(FrameError);
});

test('frames of exactly the maximum size are read', () => {
  expect(readAll([encodeFrame('x'.repeat(100), new Uint8Array(50))])).toHaveLength(1);
});

test('property: any bytes are frames or refused', () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 40 }), { maxLength: 20 }), (chunks) => {
      try {
        for (const { json } of readAll(chunks)) expect(json.length).toBeLessThanOrEqual(limits.maxJsonBytes);
      } catch (thrown) {
        expect(thrown).toBeInstanceOf(FrameError);
      }
    }),
  );
});
