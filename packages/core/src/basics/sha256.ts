/** SHA-256 of `text` in hexadecimal, synchronously, unlike Web Crypto. Source: FIPS 180-4. */
export function sha256(text: string): string {
  constants ??= makeConstants();
  const hash = Uint32Array.from(constants.initial);
  const message = pad(new TextEncoder().encode(text));
  const words = new Uint32Array(64);
  for (let offset = 0; offset < message.byteLength; offset += 64) {
    for (let index = 0; index < 16; index += 1) words[index] = message.getUint32(offset + index * 4);
    mix(hash, words, constants.rounds);
  }
  return [...hash].map((word) => word.toString(16).padStart(8, '0')).join('');
}

let constants: { readonly initial: Uint32Array; readonly rounds: Uint32Array } | undefined;

/** Fractional bits of the roots of the first primes. */
function makeConstants(): NonNullable<typeof constants> {
  const primes: number[] = [];
  for (let candidate = 2; primes.length < 64; candidate += 1) {
    if (primes.every((prime) => candidate % prime !== 0)) primes.push(candidate);
  }
  const fraction = (root: number): number => (root % 1) * 2 ** 32;
  return {
    initial: Uint32Array.from(primes.slice(0, 8), (prime) => fraction(Math.sqrt(prime))),
    rounds: Uint32Array.from(primes, (prime) => fraction(Math.cbrt(prime))),
  };
}

/** Pads to whole blocks: a one bit, zeros, and the length in bits. */
function pad(bytes: Uint8Array): DataView {
  const padded = new Uint8Array(Math.ceil((bytes.length + 9) / 64) * 64);
  padded.set(bytes);
  padded[bytes.length] = 0x80;
  const view = new DataView(padded.buffer);
  view.setBigUint64(padded.length - 8, BigInt(bytes.length) * 8n);
  return view;
}

function mix(hash: Uint32Array, words: Uint32Array, rounds: Uint32Array): void {
  const at = (list: Uint32Array, index: number): number => list[index] ?? 0;
  for (let index = 16; index < 64; index += 1) {
    const early = at(words, index - 15);
    const late = at(words, index - 2);
    const first = turn(early, 7) ^ turn(early, 18) ^ (early >>> 3);
    const second = turn(late, 17) ^ turn(late, 19) ^ (late >>> 10);
    words[index] = at(words, index - 16) + first + at(words, index - 7) + second;
  }
  let [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0] = hash;
  for (let index = 0; index < 64; index += 1) {
    const choice = (e & f) ^ (~e & g);
    const majority = (a & b) ^ (a & c) ^ (b & c);
    const sum = (h + (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) + choice + at(rounds, index) + at(words, index)) | 0;
    const next = (sum + (turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) + majority) | 0;
    h = g;
    g = f;
    f = e;
    e = (d + sum) | 0;
    d = c;
    c = b;
    b = a;
    a = next;
  }
  for (const [index, word] of [a, b, c, d, e, f, g, h].entries()) hash[index] = at(hash, index) + word;
}

function turn(word: number, bits: number): number {
  return (word >>> bits) | (word << (32 - bits));
}
