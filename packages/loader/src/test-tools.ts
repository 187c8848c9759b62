import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Clock, Effects, Filesystem, Outcome, ToolContext } from '@holdfast/core';
import type { FileEntry } from '@holdfast/core/types';
import { afterEach, beforeEach } from 'vitest';
import type { ToolMetadata } from './check/types.ts';
import type { ToolRunner } from './isolate/types.ts';
import type { PinnedTool } from './language/types.ts';
import { digestOf } from './scan/tool-files.ts';

let folder = '';
let closing: ToolRunner[] = [];

/** Creates a folder for each test of the calling file, and closes its runners afterwards. */
export function useTestFolder(): void {
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'holdfast-runner-'));
  });
  afterEach(async () => {
    await Promise.all(closing.map((runner) => runner.close()));
    closing = [];
    rmSync(folder, { recursive: true, force: true });
  });
}

/** The folder of the current test. */
export function testFolder(): string {
  return folder;
}

/** Closes a runner at the end of its test. */
export function closeLater<Runner extends ToolRunner>(runner: Runner): Runner {
  closing.push(runner);
  return runner;
}

let count = 0;

/** A tool file that exports `run`. Its metadata has only the keys that runners use. */
export function writeTool(
  source: string,
  { effects = 'external', file = 'tool.mjs' }: { readonly effects?: Effects; readonly file?: string } = {},
): PinnedTool {
  count += 1;
  const entry = join(folder, `${count}-${file}`);
  writeFileSync(entry, source);
  const metadata: Partial<ToolMetadata> = { name: `tool_${count}`, form: 'metadata', function: 'run', effects };
  return { file, entry, digest: String(count).padStart(64, '0'), metadata: metadata as ToolMetadata };
}

/** The current digest of a tool's file. */
export async function verifyFile({ entry }: PinnedTool): Promise<string> {
  return digestOf(readFileSync(entry));
}

export interface TestContext extends ToolContext {
  readonly told: string[];
  readonly calls: unknown[];
  abort(reason?: unknown): void;
}

/** A context that records what a tool does with it. */
export function testContext(
  parts: {
    readonly filesystem?: Filesystem;
    readonly remainingMs?: number;
    readonly trace?: ToolContext['trace'];
    call?(): Promise<Outcome>;
  } = {},
): TestContext {
  const controller = new AbortController();
  const told: string[] = [];
  const calls: unknown[] = [];
  const remainingMs = parts.remainingMs ?? Number.POSITIVE_INFINITY;
  const context = {
    callId: 'call-1',
    idempotencyKey: 'key-1',
    signal: controller.signal,
    deadline: { atMs: Date.now() + remainingMs, remainingMs: () => remainingMs },
    filesystem: parts.filesystem,
    trace: parts.trace,
    begin: async () => undefined,
    progress: (message: string) => void told.push(message),
    beat: () => void told.push('(beat)'),
    call: async (name: string, input: unknown) => {
      calls.push([name, input]);
      return (await parts.call?.()) ?? outcome;
    },
    told,
    calls,
    abort: (reason?: unknown) => controller.abort(reason),
  };
  // Runners use no other members.
  return context as unknown as TestContext;
}

const outcome: Outcome = {
  kind: 'ok',
  callId: 'call-1/1',
  name: 'other',
  code: undefined,
  message: '',
  value: { a: 1 },
  rendered: '{"a":1}',
  text: '{"a":1}',
};

/** A filesystem in a map that records its calls. */
export function testFilesystem(
  files: Record<string, string> = {},
): Filesystem & { readonly files: Map<string, string> } {
  const map = new Map(Object.entries(files));
  const entry = (path: string): FileEntry => ({ path, name: path.split('/').at(-1) ?? '', type: 'file' });
  const read = (path: string): string => {
    const text = map.get(path);
    if (text === undefined)
      throw Object.assign(new Error(`no ${path}`), { code: 'file.missing', '~holdfast': 'error' });
    return text;
  };
  return {
    files: map,
    resolve: async (path) => path.replace(/^\.\//, ''),
    stat: async (path) => (map.has(path) ? { type: 'file', size: read(path).length, version: read(path) } : undefined),
    read: async (path, options) =>
      new TextEncoder().encode(`${read(path)}${options?.peek === true ? ' (peeked)' : ''}`),
    readText: async (path) => read(path),
    list: async () => [...map.keys()].map(entry),
    async *walk(path = '') {
      for (const key of map.keys()) if (key.startsWith(path)) yield entry(key);
    },
    async write(path, content) {
      if (content === null) throw new TypeError('no content');
      map.set(path, typeof content === 'string' ? `text:${content}` : new TextDecoder().decode(content));
    },
    remove: async (path) => {
      read(path);
      map.delete(path);
    },
    makeDirectory: async (path) => void map.set(path, '(folder)'),
  };
}

/** Time that a test advances. */
export function testClock(): Clock & { advance(ms: number): void } {
  let now = 0;
  const timers = new Set<{ readonly atMs: number; readonly run: () => void }>();
  return {
    now: () => now,
    after(delayMs, run) {
      const timer = { atMs: now + delayMs, run };
      timers.add(timer);
      return () => void timers.delete(timer);
    },
    advance(ms) {
      now += ms;
      for (const timer of [...timers]) if (timer.atMs <= now && timers.delete(timer)) timer.run();
    },
  };
}

/** Polls until `seen` returns true, yielding the processor in between. */
export async function until(seen: () => boolean): Promise<void> {
  while (!seen()) await new Promise((resolve) => void setTimeout(resolve, 1));
}
