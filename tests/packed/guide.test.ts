import { mkdir, mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { runIn } from './stranger.ts';

// Follows pages with packages from a registry: saves their files and runs their commands.
const pages = await Promise.all(
  [
    { name: 'five-minutes', commands: 12, files: 3 },
    { name: 'your-own-pack', commands: 21, files: 5 },
  ].map(async (page) => {
    const path = new URL(`../../apps/docs/guide/${page.name}.md`, import.meta.url);
    return { ...page, steps: readSteps(await readFile(path, 'utf8')) };
  }),
);
type Step =
  | { readonly type: 'file'; readonly title: string; readonly path: string; readonly text: string }
  | {
      readonly type: 'command';
      readonly title: string;
      readonly command: string;
      readonly status: number;
      readonly shown: readonly string[];
    };

describe.each(pages)('the page $name', ({ steps, commands, files }) => {
  let folder: string;
  let place: string;

  beforeAll(async () => {
    folder = await realpath(await mkdtemp(join(tmpdir(), 'holdfast-guide-')));
    place = folder;
  });

  afterAll(() => rm(folder, { recursive: true }));

  test('it has steps', () => {
    expect(steps.filter(({ type }) => type === 'command').length).toBeGreaterThanOrEqual(commands);
    expect(steps.filter(({ type }) => type === 'file').length).toBeGreaterThanOrEqual(files);
  });

  // One after the other: each begins where the one before it ended.
  test.each(steps)('$title', async (step) => {
    const { place: end, ...came } = await take(step, place);
    place = end;
    expect(came).toMatchObject({ status: step.type === 'command' ? step.status : 0, missing: [] });
  });
});

interface Taken {
  /** The folder in which the next step is taken. */
  readonly place: string;
  readonly status: number | null;
  readonly output: string;
  /** Lines that should have been printed. */
  readonly missing: readonly string[];
}

async function take(step: Step, place: string): Promise<Taken> {
  if (step.type === 'file') {
    await mkdir(dirname(join(place, step.path)), { recursive: true });
    await writeFile(join(place, step.path), step.text);
    return { place, status: 0, output: '', missing: [] };
  }
  const command = step.command
    .replace('http://127.0.0.1:4873', inject('registry'))
    .replace('127.0.0.1:4873', new URL(inject('registry')).host);
  // One stream, so that the place comes last.
  const script = `exec 2>&1\n${command}\nstatus=$?\nprintf '\\nPLACE %s' "$PWD"\nexit $status`;
  const { status, output: all } = await runIn(place, 'bash', ['-c', script]);
  const [output = '', end = place] = all.split('\nPLACE ');
  const missing = step.shown.filter((line) => !squeeze(output).includes(squeeze(line)));
  return { place: end, status, output, missing };
}

/** The files and commands of a reader; a `text` fence after commands shows output of the last one. */
function readSteps(text: string): readonly Step[] {
  const fences = text.matchAll(/^```(\w+)(?: (\S+))?\n([\s\S]*?)^```\n(?:\n```text\n([\s\S]*?)^```)?/gm);
  return [...fences].flatMap(([, language = '', named, fence = '', shown = '']): readonly Step[] => {
    if (language !== 'sh') {
      const path = named ?? /^\/\/ (\S+)\n/.exec(fence)?.[1];
      return path === undefined ? [] : [{ type: 'file', title: `saved: ${path}`, path, text: fence }];
    }
    const lines = fence.trim().split('\n');
    return lines.flatMap((line, index): readonly Step[] => {
      const [command = '', status = '0'] = line.split(/\s+# exits with (?=\d)/);
      // The registry of the tests takes its place.
      if (command === 'npm run registry') return [];
      const expected = index === lines.length - 1 ? shown.split('\n').filter((one) => one !== '') : [];
      return [{ type: 'command', title: command, command, status: Number(status), shown: expected }];
    });
  });
}

// Tables are as wide as what stands in them.
function squeeze(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim();
}
