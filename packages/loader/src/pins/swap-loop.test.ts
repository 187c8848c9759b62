import { link, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, inject, test } from 'vitest';
import { loadToolsWith } from '../load/tools.ts';
import { callTool, createProject, type TestProject, toolFile } from '../test-project.ts';
import { readFolderPins } from './folder.ts';
import { formatLock } from './lock-file.ts';

const long = inject('long');
const loads = long > 0 ? Math.ceil(2_000 * long) : 60;
const paths = ['plugins/tool.mjs', 'src/word.mjs', 'src/deeper.mjs'] as const;

function goodText(path: (typeof paths)[number], load: number): string {
  switch (path) {
    case 'plugins/tool.mjs':
      return toolFile('tool', { code: "import { word } from '../src/word.mjs';", body: 'return word;' });
    case 'src/word.mjs':
      return "export { word } from './deeper.mjs';";
    case 'src/deeper.mjs':
      return `export const word = ${load};`;
    default:
      return path satisfies never;
  }
}

const evil = 'globalThis.holdfastEvil = (globalThis.holdfastEvil ?? 0) + 1;\n';

/** Seeded, so that runs are reproducible. */
function createDice(seed: number): (sides: number) => number {
  let state = seed;
  return (sides) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * sides);
  };
}

/** Like `accept`, without fsync and without a copy: the load has to create it. */
async function lockQuickly({ root, plugins, lock }: TestProject): Promise<void> {
  const { tools } = await readFolderPins({ root, folder: plugins }, {});
  await writeFile(
    lock,
    formatLock({ tools: new Map([...tools].map(([name, { tool }]) => [name, tool])), plugins: undefined }),
  );
}

/** One of the ways to change a file during a load. */
async function swap(project: TestProject, load: number, roll: (sides: number) => number): Promise<string> {
  const path = paths[roll(paths.length)] ?? paths[0];
  const place = join(project.root, path);
  const good = goodText(path, load);
  const way = roll(6);
  switch (way) {
    case 0:
      await writeFile(join(project.root, 'aside.mjs'), evil + good);
      await rename(join(project.root, 'aside.mjs'), place);
      break;
    case 1:
      await rm(place, { force: true });
      break;
    case 2:
      await project.link(path, join(project.root, 'evil', path.replace(/.*\//, '')));
      break;
    case 3:
      await rm(place, { force: true });
      await link(join(project.root, 'evil', path.replace(/.*\//, '')), place);
      break;
    default:
      await rm(place, { force: true });
      await writeFile(place, way === 4 ? good : evil + good);
  }
  return `${way}`;
}

test(`${loads} loads while files are swapped at every step: only pinned code runs`, async () => {
  await using project = await createProject();
  const roll = createDice(20_261_122);
  let steps = 0;
  const ends = { ran: 0, refused: 0 };
  for (let load = 0; load < loads; load += 1) {
    for (const path of paths) {
      await rm(join(project.root, path), { force: true });
      await project.write(path, goodText(path, load));
      await project.write(`evil/${path.replace(/.*\//, '')}`, evil + goodText(path, load));
    }
    await lockQuickly(project);
    const disturb = async (): Promise<void> => {
      steps += 1;
      // Only at some steps: otherwise no load would ever match the lock.
      if (roll(3) === 0) await swap(project, load, roll);
    };
    const { tools } = await loadToolsWith(
      project.plugins,
      { lock: project.lock, isolation: 'in-process' },
      { onScanned: disturb, onRead: disturb, onCopy: disturb },
    );
    await swap(project, load, roll);
    const answer = await callTool(tools[0]);
    if (tools.length === 0) ends.refused += 1;
    else {
      expect(answer).toBe(load);
      ends.ran += 1;
    }
  }
  expect(globalThis).not.toHaveProperty('holdfastEvil');
  // Both ends must occur often for the loop to be meaningful.
  expect(ends.ran).toBeGreaterThan(loads / 20);
  expect(ends.refused).toBeGreaterThan(loads / 20);
  expect(steps).toBeGreaterThan(loads * 3);
});
