// Runs every numbered example in its own process and fails if one of them fails. With a number, runs only that example, in the caller's
// folder and with the remaining arguments: `npm run examples -- 22 --model my-model.ts`.
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const folder = fileURLToPath(new URL('.', import.meta.url));
const examples = readdirSync(folder)
  .filter((name) => /^\d\d-.*\.ts$/.test(name))
  .toSorted();

const [chosen, ...parameters] = process.argv.slice(2);
process.exitCode = chosen === undefined ? runAll() : runOne(chosen);

function runAll(): number {
  const failed = examples.filter((name) => {
    const { status, stdout, stderr } = spawnSync(process.execPath, ['--conditions=holdfast-source', name], {
      cwd: folder,
      encoding: 'utf8',
      timeout: 60_000,
    });
    console.log(
      `${status === 0 ? 'ok  ' : 'FAIL'} ${name}: ${stdout.trim()}${stderr.trim() === '' ? '' : `\n${stderr}`}`,
    );
    return status !== 0;
  });
  console.log(`${examples.length - failed.length} of ${examples.length} examples hold`);
  return failed.length > 0 || examples.length === 0 ? 1 : 0;
}

function runOne(number: string): number {
  const example = examples.find((name) => name.startsWith(`${number}-`));
  if (example === undefined) {
    console.error(`There is no example \`${number}\`; the first is 01, the last ${examples.at(-1)?.slice(0, 2)}.`);
    return 2;
  }
  const words = ['--conditions=holdfast-source', join(folder, example), ...parameters];
  return spawnSync(process.execPath, words, { stdio: 'inherit' }).status ?? 1;
}
