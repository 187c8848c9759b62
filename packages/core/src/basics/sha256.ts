/** SHA-256 of `text` in hexadecimal, synchronously, unlike Web Crypto. Source: FIPS 180-4. */
export function sha256(text: string): string {
  constants ??= makeConstants();
  const { initial, rounds, encoder, words, hash, hex } = constants;
  const bytes = encoder.encode(text);
  hash.set(initial);
  // One bit, zeros, and the length in bits end the last block.
  const blocks = Math.ceil((bytes.length + 9) / 64);
  for (let block = 0; block < blocks; block += 1) {
    for (let index = 0; index < 16; index += 1) words[index] = wordAt(bytes, block * 64 + index * 4);
    if (block === blocks - 1) {
      words[14] = bytes.length / 2 ** 29;
      words[15] = bytes.length << 3;
    }
    mix(hash, words, rounds);
  }
  let digest = '';
  for (let index = 0; index < 8; index += 1) {
    const word = at(hash, index);
    for (let shift = 24; shift >= 0; shift -= 8) digest += hex[(word >>> shift) & 255] ?? '';
  }
  return digest;
}

/** Shared by all digests: making it takes longer than a digest of a short text. Engines keep signed words as small integers. */
interface Constants {
  readonly initial: Int32Array;
  readonly rounds: Int32Array;
  readonly encoder: InstanceType<typeof TextEncoder>;
  readonly words: Int32Array;
  readonly hash: Int32Array;
  readonly hex: readonly string[];
}

let constants: Constants | undefined;

/** Fractional bits of the roots of the first primes. */
function makeConstants(): Constants {
  const primes: number[] = [];
  for (let candidate = 2; primes.length < 64; candidate += 1) {
    if (primes.every((prime) => candidate % prime !== 0)) primes.push(candidate);
  }
  const fraction = (root: number): number => (root % 1) * 2 ** 32;
  return {
    initial: Int32Array.from(primes.slice(0, 8), (prime) => fraction(Math.sqrt(prime))),
    rounds: Int32Array.from(primes, (prime) => fraction(Math.cbrt(prime))),
    encoder: new TextEncoder(),
    words: new Int32Array(64),
    hash: new Int32Array(8),
    hex: Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0')),
  };
}

/** Four bytes, and after the last one the bit that ends the message. */
function wordAt(bytes: Uint8Array, offset: number): number {
  let word = 0;
  for (let index = offset; index < offset + 4; index += 1)
    word = (word << 8) | (index === bytes.length ? 0x80 : (bytes[index] ?? 0));
  return word;
}

function at(list: Int32Array, index: number): number {
  return list[index] ?? 0;
}

function mix(hash: Int32Array, words: Int32Array, rounds: Int32Array): void {
  for (let index = 16; index < 64; index += 1) {
    const early = at(words, index - 15);
    const late = at(words, index - 2);
    const first = turn(early, 7) ^ turn(early, 18) ^ (early >>> 3);
    const second = turn(late, 17) ^ turn(late, 19) ^ (late >>> 10);
    words[index] = at(words, index - 16) + first + at(words, index - 7) + second;
  }
  let [a, b, c, d] = [at(hash, 0), at(hash, 1), at(hash, 2), at(hash, 3)];
  let [e, f, g, h] = [at(hash, 4), at(hash, 5), at(hash, 6), at(hash, 7)];
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
  const made = [a, b, c, d, e, f, g, h];
  for (let index = 0; index < 8; index += 1) hash[index] = at(hash, index) + (made[index] ?? 0);
}

function turn(word: number, bits: number): number {
  return (word >>> bits) | (word << (32 - bits));
}
