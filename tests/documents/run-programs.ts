// Runs programs one after another in one process, each when the previous one has nothing left to do, as if each were started by
// itself: `node run-programs.ts LIMIT FOLDER PROGRAM [FOLDER PROGRAM ...]`. Prints LIMIT after the output of each.
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

const [limit = '', ...places] = process.argv.slice(2);

function runNext(): void {
  const [folder, program] = places.splice(0, 2);
  if (folder === undefined || program === undefined) return;
  process.chdir(folder);
  process.once('beforeExit', () => {
    process.stdout.write(`\n${limit}\n`);
    // Node.js checks again for pending work, but only after a turn of its loop.
    setImmediate(runNext);
  });
  // An exception ends this process, which then prints fewer limits.
  void import(pathToFileURL(resolve(program)).href);
}

runNext();
