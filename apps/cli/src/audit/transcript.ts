import { createReadStream } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { JsonObject } from '@holdfast/core';
import { isPlainObject, parseJson } from '@holdfast/core/internal';
import type { Agent } from '@holdfast/guard/agents';
import { hasCode } from '../terminal/system.ts';

/** A statement of a transcript's line. */
export type Step =
  /** Holds for the lines that follow. */
  | {
      readonly type: 'place';
      readonly sessionId?: string | undefined;
      readonly cwd?: string | undefined;
      readonly mode?: string | undefined;
    }
  | {
      readonly type: 'call';
      readonly id: string;
      /** As the agent's hook names the tool. */
      readonly name: string;
      readonly input: JsonObject;
      readonly cwd?: string | undefined;
      readonly subAgentId?: string | undefined;
      /** The agent needed a yes of its person, if its mode asks at all. */
      readonly needsYes?: boolean;
    }
  /** `not-run`: a person or the agent refused; `asked` if it was a person. */
  | {
      readonly type: 'result';
      readonly id: string;
      readonly ok: boolean | 'unknown' | 'not-run';
      readonly asked?: boolean;
    };

/** The transcripts of one agent. Formats drift: what a reader does not know, it leaves out. */
export interface TranscriptFormat {
  readonly agent: Agent;
  /** For people. */
  readonly title: string;
  /** Below the home. */
  readonly folder: string;
  /** True for the path of a transcript, below `folder` and with `/`. */
  holds(path: string): boolean;
  read(line: JsonObject): readonly Step[];
  /** The lines of a transcript in another form, of the sessions that changed since. `undefined` for one that cannot be read. */
  rows?(path: string, sinceMs: number): AsyncIterable<JsonObject | undefined>;
  /** The folder of the session, where the file does not name it. */
  findFolder?(path: string): Promise<string | undefined>;
}

export interface FoundTranscript {
  readonly format: TranscriptFormat;
  readonly path: string;
  readonly sinceMs: number;
}

const maxDepth = 8;

/** The transcripts of an agent that changed since `sinceMs`, oldest first. Folders that cannot be read have none. */
export async function findTranscripts(
  format: TranscriptFormat,
  home: string,
  sinceMs: number,
): Promise<readonly FoundTranscript[]> {
  const found: { readonly path: string; readonly atMs: number }[] = [];
  const visit = async (folder: string, below: string, depth: number): Promise<void> => {
    for (const entry of await listFolder(folder)) {
      const path = join(folder, entry.name);
      const name = `${below}${entry.name}`;
      if (entry.isDirectory() && depth < maxDepth) await visit(path, `${name}/`, depth + 1);
      if (!entry.isFile() || !format.holds(name)) continue;
      const { mtimeMs } = await stat(path);
      // A database is written beside first.
      if (mtimeMs >= sinceMs || format.rows !== undefined) found.push({ path, atMs: mtimeMs });
    }
  };
  await visit(join(home, format.folder), '', 0);
  return found.toSorted((left, right) => left.atMs - right.atMs).map(({ path }) => ({ format, path, sinceMs }));
}

async function listFolder(folder: string) {
  try {
    return await readdir(folder, { withFileTypes: true });
  } catch (thrown) {
    if (hasCode(thrown, 'ENOENT') || hasCode(thrown, 'ENOTDIR') || hasCode(thrown, 'EACCES')) return [];
    throw thrown;
  }
}

export interface TranscriptLine {
  readonly steps: readonly Step[];
  readonly atMs: number | undefined;
}

/** The lines of a transcript that say something; `undefined` for one that is not JSON. */
export async function* readTranscript(found: FoundTranscript): AsyncGenerator<TranscriptLine | undefined> {
  const { format, path, sinceMs } = found;
  const cwd = await format.findFolder?.(path);
  if (cwd !== undefined) yield { steps: [{ type: 'place', cwd }], atMs: undefined };
  for await (const line of format.rows?.(path, sinceMs) ?? readLines(path)) {
    const steps = line && format.read(line);
    if (steps === undefined) yield undefined;
    else if (steps.length > 0) yield { steps, atMs: timeOf(line ?? {}) };
  }
}

async function* readLines(path: string): AsyncGenerator<JsonObject | undefined> {
  const lines = createInterface({ input: createReadStream(path, 'utf8'), crlfDelay: Number.POSITIVE_INFINITY });
  for await (const text of lines) {
    if (text.trim() === '') continue;
    const parsed = parseJson(text, transcriptLimits);
    yield parsed.ok && isPlainObject(parsed.value) ? (parsed.value as JsonObject) : undefined;
  }
}

/** A result may be large, and another agent's JSON may be deep. */
export const transcriptLimits: { readonly maxLength: number; readonly maxDepth: number; readonly maxKeys: number } = {
  maxLength: 64 * 1_048_576,
  maxDepth: 200,
  maxKeys: 1_000_000,
};

function timeOf(line: JsonObject): number | undefined {
  const { timestamp } = line;
  const atMs = typeof timestamp === 'string' ? Date.parse(timestamp) : Number.NaN;
  return Number.isNaN(atMs) ? undefined : atMs;
}

/** The object in a field, else an empty one. */
export function objectOf(value: unknown): JsonObject {
  return isPlainObject(value) ? (value as JsonObject) : {};
}

export function objectsOf(value: unknown): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter((item): item is JsonObject => isPlainObject(item)) : [];
}

export function toCall(id: unknown, name: unknown, input: unknown): Extract<Step, { type: 'call' }> | undefined {
  if (typeof id !== 'string' || typeof name !== 'string' || id === '' || name === '') return undefined;
  return { type: 'call', id, name, input: objectOf(input) };
}

export function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}
