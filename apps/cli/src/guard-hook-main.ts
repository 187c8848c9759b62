import { writeSync } from 'node:fs';

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

const { answerHook } = await import('./guard/hook.ts').catch(fail);
const { stdout, stderr, exitCode } = await answerHook(process.argv[2] ?? '', {
  input: process.stdin,
  environment: process.env,
  directory: process.cwd(),
  // Not unreferenced: a hook that waits for its turn must not end.
  pause: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
});
process.off('exit', endedEarly);
process.stderr.write(stderr, () => process.stdout.write(stdout, () => process.exit(exitCode)));
