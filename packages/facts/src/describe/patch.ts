import type { CallFacts, Describer, PlaceView } from '@holdfast/core';
import { FactsBuilder } from '../script/facts-builder.ts';
import { textsOf, toPath } from './files.ts';
import { unclearFacts } from './union.ts';

export interface PatchFactsOptions {
  /** The argument that holds the patch, by tool name. Default: `apply_patch`, with `command`, `input` or `patch`. */
  readonly tools?: Readonly<Record<string, string>>;
}

/** Facts of tools that apply a patch: a unified diff, or the body of `apply_patch`. */
export function patchFacts({ tools }: PatchFactsOptions = {}): Describer {
  const named = new Map<string, readonly string[]>(
    tools === undefined
      ? [['apply_patch', ['command', 'input', 'patch']]]
      : Object.entries(tools).map(([name, argument]) => [name, [argument]]),
  );
  return {
    name: 'patches',
    describe({ tool, input }, view) {
      const found = named.get(tool);
      if (found === undefined) return undefined;
      const text =
        typeof input === 'string' ? input : found.flatMap((argument) => textsOf(input, argument) ?? []).at(-1);
      return text === undefined
        ? unclearFacts({ kind: 'words', use: 'writes', reason: `\`${tool}\` has no readable patch` })
        : describePatch(text, view);
    },
  };
}

/** Facts of one patch. In a diff every name counts with and without its first folder, because `-p` is unknown. */
export function describePatch(text: string, view: PlaceView): CallFacts {
  const facts = new FactsBuilder(view);
  const isBody = /^\*\*\* Begin Patch/m.test(text);
  const found = isBody ? readBody(text, { facts, view }) : readDiff(text, { facts, view });
  if (found === 0) facts.unclear({ kind: 'syntax', reason: 'the patch names no file' });
  return facts.build();
}

interface Reading {
  readonly facts: FactsBuilder;
  readonly view: PlaceView;
}

function readBody(text: string, { facts, view }: Reading): number {
  let found = 0;
  for (const line of text.split(/\r?\n/)) {
    const [, verb, path = ''] = /^\*\*\* (Add File|Update File|Delete File|Move to): (.*)$/.exec(line.trimEnd()) ?? [];
    if (verb === undefined) continue;
    found += 1;
    if (verb === 'Update File') facts.touch('reads', toPath(path, view));
    facts.touch(verb === 'Delete File' ? 'deletes' : 'writes', toPath(path, view));
  }
  return found;
}

function readDiff(text: string, { facts, view }: Reading): number {
  let found = 0;
  let left = 0;
  let right = 0;
  for (const line of text.split('\n')) {
    // Lines of a hunk are text, even if they look like headers.
    if (left > 0 || right > 0) {
      if (!line.startsWith('+') && !line.startsWith('\\')) left -= 1;
      if (!line.startsWith('-') && !line.startsWith('\\')) right -= 1;
      continue;
    }
    const hunk = /^@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@/.exec(line);
    if (hunk !== null) {
      left = Number(hunk[1] ?? 1);
      right = Number(hunk[2] ?? 1);
      continue;
    }
    const [, verb = '', name = ''] =
      /^(---|\+\+\+|rename from|rename to|copy from|copy to) (.*)$/.exec(line.replace(/\r$/, '')) ?? [];
    const path = unquote(name.replace(/\t.*$/, ''));
    if (verb === '' || path === '/dev/null') continue;
    found += 1;
    const paths =
      path.startsWith('/') || !path.includes('/') || verb.includes(' ')
        ? [path]
        : [path, path.slice(path.indexOf('/') + 1)];
    for (const one of paths) {
      if (verb === '---' || verb.endsWith('from')) facts.touch('reads', toPath(one, view));
      if (verb === 'rename from' || (verb === '---' && /^\+\+\+ \/dev\/null/m.test(text)))
        facts.touch('deletes', toPath(one, view));
      else if (verb === '+++' || verb.endsWith('to')) facts.touch('writes', toPath(one, view));
    }
  }
  return found;
}

/** Git quotes names with special characters. */
function unquote(name: string): string {
  if (!/^".*"$/.test(name)) return name;
  const bytes: number[] = [];
  const encoder = new TextEncoder();
  for (const [part] of name.slice(1, -1).matchAll(/\\[0-7]{3}|\\.|[^\\]+/gsu)) {
    if (/^\\[0-7]{3}$/.test(part)) bytes.push(Number.parseInt(part.slice(1), 8) % 256);
    else bytes.push(...encoder.encode(part.startsWith('\\') ? (escapes.get(part.slice(1)) ?? part.slice(1)) : part));
  }
  return new TextDecoder().decode(new Uint8Array(bytes));
}

const escapes: ReadonlyMap<string, string> = new Map([
  ['n', '\n'],
  ['t', '\t'],
  ['r', '\r'],
]);
