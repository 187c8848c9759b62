import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { watchTools } from '@holdfast/loader';
import { python as pythonFiles } from '@holdfast/loader-python';
import fc from 'fast-check';
import { afterEach, beforeEach, expect, inject, test } from 'vitest';
import { commandFile, refusedCommands } from './hostile-commands.ts';
import { notLiteral } from './hostile-literals.ts';
import { pythonFile, refusedPython, withPython } from './hostile-python.ts';
import { goodTwin, harmfulWhenRun, metadataFile, refused } from './hostile-tool-files.ts';
import { type Canaries, createCanaries } from './tool-file-canaries.ts';

let base = '';
let canaries: Canaries;
beforeEach(async () => {
  base = mkdtempSync(join(tmpdir(), 'holdfast-watch-'));
  canaries = await createCanaries(base);
});
afterEach(async () => {
  await canaries.close();
  rmSync(base, { recursive: true, force: true });
});

type Content = string | Uint8Array;

interface Place {
  readonly file: string;
  good(version: number): string;
  /** Files that are refused, and files that are tools until they run. */
  readonly bad: readonly Content[];
  readonly harmful: readonly Content[];
}

/** A file of each language, and what may stand in it. */
function places(): readonly Place[] {
  const { trip, tripInPython, port } = canaries;
  const fill = (content: Content): Content =>
    typeof content === 'string' ? content.replaceAll('PORT', String(port)) : content;
  const python = {
    file: 'y.py',
    good: (version: number) => pythonFile('snake', { description: `'Version ${version}.'` }),
    bad: refusedPython.map(({ source }) => fill(source('snake', tripInPython))),
    harmful: [],
  };
  return [
    {
      file: 'x.mjs',
      good: (version) => metadataFile('subject', { description: `'Version ${version}.'` }),
      bad: [...refused, ...notLiteral]
        .filter(({ extension }) => extension === 'mjs')
        .map(({ source }) => fill(source('subject', trip))),
      // Files with imports that are missing, or that no copy can contain, do not survive a change.
      harmful: harmfulWhenRun
        .filter(
          ({ what }) => what.startsWith('a sound metadata') && !what.includes('import') && !what.includes('_trip'),
        )
        .map(({ source }) => source('subject', trip)),
    },
    {
      file: 'z.tool.json',
      good: (version) => commandFile('shell', { description: `Version ${version}.` }),
      bad: refusedCommands.map(({ source }) => fill(source('shell', tripInPython))),
      harmful: [],
    },
    ...(withPython ? [python] : []),
  ];
}

test.skipIf(process.platform === 'win32')(
  'whatever stands in a watched file, it costs no other one, and its own tool stays as it last was',
  async () => {
    const all = places();
    const step = fc.record({
      place: fc.nat({ max: all.length - 1 }),
      what: fc.constantFrom('good', 'bad', 'bad', 'harmful', 'gone'),
      pick: fc.nat(),
    });
    // Of each place, what is kept in spite of a bad file; draws alone would leave that out once in a while.
    const keeps = all.map((_, place) => ['good', 'bad', 'harmful', 'gone'].map((what) => ({ place, what, pick: 0 })));
    let kept = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 8 }), async (steps) => {
        const project = mkdtempSync(join(base, 'project-'));
        const folder = join(project, 'plugins');
        mkdirSync(folder);
        writeFileSync(join(folder, '_work.sh'), `#!/bin/sh\n${canaries.tripInShell}\n`, { mode: 0o755 });
        writeFileSync(join(folder, 'twin.mjs'), goodTwin('twin', 'metadata', canaries.trip));
        const watched = await watchTools(folder, { languages: [pythonFiles()] });
        /** The description of each file's tool, if it has one. */
        const expected = new Map<string, string>();
        for (const [index, { place, what, pick }] of steps.entries()) {
          const chosen = all[place];
          if (chosen === undefined) continue;
          const { file, good, bad, harmful } = chosen;
          const path = join(folder, file);
          if (what === 'gone') {
            rmSync(path, { force: true });
            expected.delete(file);
          } else if (what === 'good') {
            writeFileSync(path, good(index));
            expected.set(file, `Version ${index}.`);
          } else if (what === 'harmful' && harmful.length > 0) {
            writeFileSync(path, harmful[pick % harmful.length] ?? '');
            expected.set(file, 'Works.');
          } else {
            writeFileSync(path, bad[pick % bad.length] ?? '');
            if (expected.has(file)) kept += 1;
          }
          await watched.reload();
          const found = watched.tools.map(({ origin, description }) => [origin?.source, description]);
          expect(Object.fromEntries(found)).toEqual({ 'twin.mjs': 'Works.', ...Object.fromEntries(expected) });
        }
        await watched.close();
        // No tool was called, so that nothing had to be copied.
        expect(readdirSync(project)).toEqual(['plugins']);
      }),
      { numRuns: keeps.length + (inject('long') > 0 ? 20 : 2), examples: keeps.map((steps) => [steps]) },
    );
    expect(kept).toBeGreaterThanOrEqual(all.length);
    expect(await canaries.tripped()).toEqual([]);
  },
);
