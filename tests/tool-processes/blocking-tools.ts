/** A way in which a tool keeps its thread. */
export interface BlockingWay {
  readonly what: string;
  /** True if JavaScript itself runs, so that its engine can stop it. */
  readonly inside: boolean;
  /** Prepares the case. */
  readonly prepare?: string;
  /** Keeps the thread for ever, or far longer than any test lasts. */
  readonly endless: string;
  /** Keeps it for a while. */
  readonly passing: string;
}

const readPipe = "readFileSync(new URL('pipe', import.meta.url));";

export const blockingWays: readonly BlockingWay[] = [
  {
    what: 'a loop',
    inside: true,
    endless: 'for (;;);',
    passing: 'const end = Date.now() + 100; while (Date.now() < end);',
  },
  {
    what: 'a catastrophic pattern',
    inside: true,
    endless: "/^(a+)+$/.test('a'.repeat(60) + '!');",
    passing: "/^(a+)+$/.test('a'.repeat(22) + '!');",
  },
  {
    what: 'Atomics.wait',
    inside: true,
    prepare: 'const cell = new Int32Array(new SharedArrayBuffer(4));',
    endless: 'Atomics.wait(cell, 0, 0);',
    passing: 'Atomics.wait(cell, 0, 0, 100);',
  },
  {
    what: 'a huge sort',
    inside: true,
    prepare: 'const list = Array.from({ length: 100_000 }, (_, index) => (index * 7919) % 1_000_003);',
    endless: 'for (;;) list.toSorted();',
    passing: 'list.toSorted();',
  },
  {
    what: 'a huge JSON.parse',
    inside: true,
    prepare: "const text = '[' + '[],'.repeat(200_000) + '[]]';",
    endless: 'for (;;) JSON.parse(text);',
    passing: 'JSON.parse(text);',
  },
  {
    what: 'a power of a BigInt',
    inside: true,
    endless: 'for (;;) 7n ** 20_000_000n;',
    passing: '7n ** 2_000_000n;',
  },
  {
    what: 'execSync',
    inside: false,
    endless: "execSync('sleep SECONDS');",
    passing: "execSync('sleep 0.1');",
  },
  {
    what: 'reading a FIFO',
    inside: false,
    endless: readPipe,
    // The writer must exist first.
    passing: `spawn('sh', ['-c', 'sleep 0.1; echo > pipe'], { cwd: fileURLToPath(new URL('.', import.meta.url)), stdio: 'ignore' }); ${readPipe}`,
  },
  {
    what: 'pbkdf2Sync',
    inside: false,
    endless: "pbkdf2Sync('a', 'b', 2_000_000_000, 64, 'sha512');",
    passing: "pbkdf2Sync('a', 'b', 100_000, 64, 'sha512');",
  },
  {
    what: 'brotliCompressSync',
    inside: false,
    prepare: 'const bytes = Buffer.alloc(1e6, Array.from({ length: 9_999 }, (_, index) => index).join());',
    endless: 'for (;;) brotliCompressSync(bytes);',
    passing: 'brotliCompressSync(bytes);',
  },
];

/** Longer than any test: the tests have a clock of their own. */
export const blockingTimeoutMs = 3_600_000;

/** An environment variable of the tool's process and of everything that it starts. */
export const blockingMark = 'BLOCKING_TEST_MARK';

/** A tool file whose tool reports `in`, and then blocks. */
export function toBlockingTool(
  { prepare = '' }: BlockingWay,
  block: string,
  { timeoutMs = blockingTimeoutMs }: { readonly timeoutMs?: number } = {},
): string {
  return `import { execSync, spawn } from 'node:child_process';
import { pbkdf2Sync } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync } from 'node:zlib';
export const METADATA = {
  name: 'block', function: 'block', description: 'Blocks.', dangerous: false, effects: 'external', timeoutMs: ${timeoutMs},
  environment: ['${blockingMark}?'],
  parameters: { type: 'object', properties: {} },
};
export function block(input, { progress }) {
  ${prepare}
  progress('in');
  ${block}
  return 'out';
}
`;
}
