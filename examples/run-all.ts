// Runs every numbered example in a process of its own and fails when one of them does.
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const folder = fileURLToPath(new URL('.', import.meta.url));
const examples = readdirSync(folder)
  .filter((name) => /^\d\d-.*\.ts$/.test(name))
  .toSorted();

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
process.exitCode = failed.length > 0 || examples.length === 0 ? 1 : 0;
