import { writeSync } from 'node:fs';
import { enableCompileCache } from 'node:module';
import { dirname, join } from 'node:path';

// A coding agent starts this for each call. Every failure ends with exit code 2 and a reason: an agent lets a call through when its
// hook ends in any other way.
const fail = (thrown: unknown): never => {
  const reason = thrown instanceof Error ? thrown.message : String(thrown);
  writeSync(2, `Holdfast's hook failed, so the call is denied: ${reason}\n`);
  process.exit(2);
};
process.on('uncaughtException', fail);
process.on('unhandledRejection', fail);
const endedEarly = (): never => fail('it ended before it had an answer');
process.on('exit', endedEarly);

const programFile = process.argv[1] ?? '';
// Beside an installed copy, in the user's own folder: compiling the bundle takes longer than deciding.
if (programFile.endsWith('.cjs')) enableCompileCache(join(dirname(programFile), 'compiled'));

// Loaded here, where a failure is a denial. The built file is CommonJS, which has no top-level await.
import('./guard/hook.ts')
  .then(({ answerHook }) =>
    answerHook(process.argv[2] ?? '', {
      input: process.stdin,
      environment: process.env,
      directory: process.cwd(),
      // Not unreferenced: a hook that waits for its turn must not end.
      pause: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
    }),
  )
  .then(({ stdout, stderr, exitCode }) => {
    process.off('exit', endedEarly);
    process.stderr.write(stderr, () => process.stdout.write(stdout, () => process.exit(exitCode)));
  })
  .catch(fail);
