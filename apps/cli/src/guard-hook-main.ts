// A coding agent starts this for each of its calls. Whatever goes wrong ends with exit code 2 and a reason, since an agent lets a call
// through when its hook ends in any other way.
const fail = (thrown: unknown): never => {
  const reason = thrown instanceof Error ? thrown.message : String(thrown);
  process.stderr.write(`Holdfast's hook failed, so the call is denied: ${reason}\n`);
  process.exit(2);
};
process.on('uncaughtException', fail);
process.on('unhandledRejection', fail);

const { answerHook } = await import('./guard/hook.ts').catch(fail);
const { stdout, stderr, exitCode } = await answerHook(process.argv[2] ?? '', {
  input: process.stdin,
  environment: process.env,
  directory: process.cwd(),
  pause: (ms) => new Promise((resolve) => setTimeout(resolve, ms).unref()),
});
process.stderr.write(stderr, () => process.stdout.write(stdout, () => process.exit(exitCode)));

export {};
