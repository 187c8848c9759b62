import { mkdir, mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { runIn } from './stranger.ts';

// The page that a newcomer follows with packages from a registry, to the letter: its files are saved, its commands are typed.
const page = await readFile(new URL('../../apps/docs/guide/your-own-pack.md', import.meta.url), 'utf8');

type Step =
  | { readonly type: 'file'; readonly path: string; readonly text: string }
  | { readonly type: 'command'; readonly command: string; readonly status: number; readonly shown: readonly string[] };

let folder: string;
let place: string;

beforeAll(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), 'holdfast-guide-')));
  place = folder;
});

afterAll(() => rm(folder, { recursive: true }));

const steps = readSteps(page);

test('the page has steps', () => {
  expect(steps.filter(({ type }) => type === 'command').length).toBeGreaterThan(20);
  expect(steps.filter(({ type }) => type === 'file').length).toBeGreaterThan(4);
});

// One after the other: each begins where the one before it ended.
for (const step of steps) {
  if (step.type === 'file') {
    test(`saved: ${step.path}`, async () => {
      await mkdir(dirname(join(place, step.path)), { recursive: true });
      await writeFile(join(place, step.path), step.text);
    });
  } else {
    test(step.command, async () => {
      const command = step.command
        .replace('http://127.0.0.1:4873', inject('registry'))
        .replace('127.0.0.1:4873', new URL(inject('registry')).host);
      const end = join(folder, '.place');
      const { status, output } = await runIn(place, 'bash', [
        '-c',
        `${command}\nstatus=$?\npwd > '${end}'\nexit $status`,
      ]);
      place = (await readFile(end, 'utf8')).trim();
      const missing = step.shown.filter((line) => !squeeze(output).includes(squeeze(line)));
      expect({ status, output, missing }).toMatchObject({ status: step.status, missing: [] });
    });
  }
}

/** What a reader saves and types; a `text` fence behind commands shows lines of what the last of them prints. */
function readSteps(text: string): readonly Step[] {
  const fences = text.matchAll(/^```(\w+)(?: (\S+))?\n([\s\S]*?)^```\n(?:\n```text\n([\s\S]*?)^```)?/gm);
  return [...fences].flatMap(([, language = '', named, fence = '', shown = '']): readonly Step[] => {
    if (language !== 'sh') {
      const path = named ?? /^\/\/ (\S+)\n/.exec(fence)?.[1];
      return path === undefined ? [] : [{ type: 'file', path, text: fence }];
    }
    const lines = fence.trim().split('\n');
    return lines.flatMap((line, index): readonly Step[] => {
      const [command = '', status = '0'] = line.split(/\s+# exits with (?=\d)/);
      // The registry of the tests takes its place.
      if (command === 'npm run registry') return [];
      const expected = index === lines.length - 1 ? shown.split('\n').filter((one) => one !== '') : [];
      return [{ type: 'command', command, status: Number(status), shown: expected }];
    });
  });
}

// Tables are as wide as what stands in them.
function squeeze(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim();
}
