import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { allow, definePolicy, type KeyedState, type Policy, upsert } from '@holdfast/core';
import type { LogRecord, Session } from '@holdfast/session';
import { shortKey } from './short-key.ts';

/** The effects of tools that touch the world: the keys of their calls, in order. */
export function readEffects(folder: string, name: string): readonly string[] {
  const path = join(folder, `${name}.txt`);
  return existsSync(path) ? readFileSync(path, 'utf8').split('\n').slice(0, -1) : [];
}

const never = ['deploy', 'gated', 'post', 'release', 'outer'];
const external: ReadonlySet<unknown> = new Set([...never, 'mail']);

/** Contradictions between a log in which nothing is open anymore and the world outside. */
export function findInconsistencies(records: Iterable<LogRecord>, folder: string): readonly string[] {
  const wrong: string[] = [];
  const started = new Map<string, string>();
  const nested = new Set<string>();
  const ended = new Map<string, { readonly kind: string; readonly name: string }>();
  const files = new Map<string, string>();
  for (const record of records) {
    const key = keyOf(record);
    if (record.type === 'tool-call-start') started.set(key, String(record['name']));
    if (record['parentId'] !== undefined) nested.add(key);
    if (record.type !== 'tool-call-end') continue;
    const name = String(record['name']);
    const { kind } = record['outcome'] as { readonly kind: string };
    if (ended.has(key)) wrong.push(`${key} ended twice`);
    ended.set(key, { kind, name });
    if (kind === 'ok') change(files, name, key, record['input'] as never);
    if (!expected(name, kind)) wrong.push(`${name} ${key} ended as ${kind}`);
    if (external.has(name) && kind === 'ok' && !started.has(key)) wrong.push(`${name} ${key} never started`);
  }
  // A nested call ends with its outer call.
  for (const [key, name] of started) if (!ended.has(key) && !nested.has(key)) wrong.push(`${name} ${key} never ended`);
  for (const name of [...never, 'mail']) {
    const effects = readEffects(folder, name);
    const seen = new Set(effects);
    const short = new Set(effects.map(shortKey));
    if (short.size !== seen.size) wrong.push(`${name} was repeated under another key`);
    if (name !== 'mail' && seen.size !== effects.length) wrong.push(`${name} took effect twice`);
    for (const effect of short) {
      const key = effect.slice(2);
      const kind = ended.get(key)?.kind;
      if (started.get(key) !== name) wrong.push(`${name} ${key} took effect and is not in the log`);
      else if (kind === 'cancelled') wrong.push(`${name} ${key} took effect and is said not to have`);
    }
    for (const [key, end] of ended) {
      if (end.name === name && end.kind === 'ok' && !short.has(`s/${key}`)) wrong.push(`${name} ${key} took no effect`);
    }
  }
  wrong.push(...compare(files, readFiles(join(folder, 'workspace'))));
  return wrong;
}

/** Keeps the keys of calls that may have taken effect. */
export const doubts: Policy<KeyedState<true>> = definePolicy<true>({
  name: 'doubts',
  stateKind: 'keyed',
  check: () => allow,
  reserve: (_call, { callKey }) => upsert(callKey, true),
});

/** The state it has kept. */
export function doubtsOf(session: Session): readonly string[] {
  const state = session.export().slices.find(({ id }) => id === 'policy:host/doubts')?.state ?? [];
  return (state as [string, true][]).map(([key]) => shortKey(key)).toSorted();
}

/** The keys of calls that may have taken effect and are not counted as successes: those in doubt, and what these have called. */
export function findDoubts(records: Iterable<LogRecord>): readonly string[] {
  const kinds = new Map<string, string>();
  const nested = new Map<string, string>();
  for (const record of records) {
    if (record.type === 'tool-call-start' && typeof record['parentId'] === 'string') {
      nested.set(keyOf(record), record['parentId']);
    }
    if (record.type === 'tool-call-end')
      kinds.set(keyOf(record), (record['outcome'] as { readonly kind: string }).kind);
  }
  const inDoubt = [...kinds].filter(([, kind]) => kind === 'in-doubt').map(([key]) => key);
  const called = [...nested].filter(([key, parent]) => {
    const kind = kinds.get(key) ?? 'in-doubt';
    return kinds.get(parent) === 'in-doubt' && (kind === 'ok' || kind === 'in-doubt');
  });
  return [...new Set([...inDoubt, ...called.map(([key]) => key)])].map((key) => `s/${key}`).toSorted();
}

/** As the world knows it. */
export function keyOf({ callId, run, turn }: LogRecord): string {
  return run === undefined ? String(callId) : `${String(run)}.${String(turn)}/${String(callId)}`;
}

/** Nothing but the end of the process goes wrong. */
function expected(name: string, kind: string): boolean {
  switch (name) {
    case 'deploy':
    case 'gated':
    case 'release':
    case 'outer':
      return kind === 'ok' || kind === 'in-doubt' || kind === 'cancelled';
    // Its probe knows.
    default:
      return kind === 'ok' || kind === 'cancelled';
  }
}

function change(
  files: Map<string, string>,
  name: string,
  key: string,
  { number, text, old }: { readonly number: number; readonly text: string; readonly old: readonly number[] },
): void {
  if (name === 'release') files.set('release.txt', `s/${key}`);
  if (name !== 'write_pair') return;
  files.set(`left/${number}.txt`, text);
  files.set(`right/deep/${number}.txt`, text);
  files.set('latest.txt', text);
  for (const path of old.flatMap((gone) => [`left/${gone}.txt`, `right/deep/${gone}.txt`])) files.delete(path);
}

function readFiles(folder: string): ReadonlyMap<string, string> {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  const paths = entries.filter((entry) => !entry.isDirectory()).map((entry) => join(entry.parentPath, entry.name));
  return new Map(paths.map((path) => [path.slice(folder.length + 1), readFileSync(path, 'utf8')]));
}

function compare(files: ReadonlyMap<string, string>, found: ReadonlyMap<string, string>): readonly string[] {
  const wrong: string[] = [];
  for (const [path, text] of files) {
    const there = found.get(path);
    if (there === undefined) wrong.push(`\`${path}\` is missing`);
    else if (there !== text) wrong.push(`\`${path}\` holds ${there.slice(0, 30)} instead of ${text.slice(0, 30)}`);
  }
  for (const path of found.keys()) if (!files.has(path)) wrong.push(`\`${path}\` was left behind`);
  return wrong;
}
