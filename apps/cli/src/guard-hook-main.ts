import { writeSync } from 'node:fs';
import { enableCompileCache } from 'node:module';
import { dirname, join } from 'node:path';
import type { HookAnswer } from '@holdfast/guard/agents';
import { findClient } from './guard/client-process.ts';
import { askDaemon, askToLeave } from './guard/daemon/ask.ts';
import {
  daemonFolder,
  isSameEnvironment,
  isSameProgram,
  keptEnvironment,
  readAnnouncement,
} from './guard/daemon/place.ts';
import type { HookQuestion } from './guard/hook.ts';

/** Installed hooks have ten seconds, and more for a wait; what is not decided by then would be let through. */
const decidesWithinMs = 8_000;
/** Then the hook decides by itself. */
const daemonWithinMs = 3_000;

// A coding agent starts this for each call, and it loads little: a daemon decides. Every failure ends with exit code 2 and a reason: an
// agent lets a call through when its hook ends in any other way.
const fail = (thrown: unknown): never => {
  process.off('exit', endedEarly);
  const reason = thrown instanceof Error ? thrown.message : String(thrown);
  writeSync(2, `Holdfast's hook failed, so the call is denied: ${reason}\n`);
  process.exit(2);
};
const endedEarly = (): never => fail('it ended before it had an answer');

const startedAtMs = Date.now();
const programFile = process.argv[1] ?? '';
const host = { environment: process.env, directory: process.cwd() };
const [, , name = '', ...flags] = process.argv;
const waitMs = Number(/^--wait=(\d{1,4})$/m.exec(flags.join('\n'))?.[1] ?? 0) * 1000;
const isPlugin = flags.includes('--plugin');
const answerWithinMs = decidesWithinMs + waitMs;

const { node } = process.versions;
const [major = 0, minor = 0] = node.split('.').map(Number);
if (major < 22 || (major === 22 && minor < 18))
  fail(`it requires Node.js 22.18 or later; this is ${node}. Run \`holdfast guard install\` again with a later one.`);

if (name === 'daemon') {
  cacheCompiled();
  void import('./guard/daemon/serve.ts').then(({ runDaemon }) => runDaemon(programFile));
} else {
  process.on('uncaughtException', fail);
  process.on('unhandledRejection', fail);
  process.on('exit', endedEarly);
  setTimeout(() => fail('it could not decide in time'), answerWithinMs).unref();
  void answer();
}

async function answer(): Promise<void> {
  const text = await readInput();
  const client = /"mcp__|"mcp_servers":\["/.test(text) ? findClient() : undefined;
  const question = { agent: name, text, waitMs, client };
  if (isPlugin && (await yields())) return end({ stdout: '', stderr: '', exitCode: 0 });
  end((await askRunning(question)) ?? (await decideHere(question)));
}

/** Gemini CLI gives no id of a call, so that two hooks of ours would be told of two calls: that of the settings decides. */
async function yields(): Promise<boolean> {
  if (name !== 'gemini') return false;
  const { hasHooks } = await import('./guard/installed.ts');
  return hasHooks({ agent: name }, host);
}

function end({ stdout, stderr, exitCode }: HookAnswer): void {
  process.off('exit', endedEarly);
  process.stderr.write(stderr, () => process.stdout.write(stdout, () => process.exit(exitCode)));
}

async function readInput(): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of process.stdin) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
}

/** By the daemon, if one of this version runs, with the same folders of the user; if none runs, it is started for the next call. */
async function askRunning(question: HookQuestion): Promise<HookAnswer | undefined> {
  const daemon = readAnnouncement(daemonFolder(host));
  const isOurs =
    daemon !== undefined &&
    isSameProgram(daemon.program, programFile) &&
    isSameEnvironment(daemon.environment, keptEnvironment(host));
  if (daemon !== undefined && !isOurs) {
    if (!(await askToLeave(daemon))) await start();
    return undefined;
  }
  const { directory } = host;
  const answered = daemon && (await askDaemon(daemon, { ...question, directory }, daemonWithinMs + waitMs));
  if (answered === undefined) await start();
  return answered;
}

async function start(): Promise<void> {
  const { startDaemon } = await import('./guard/daemon/start.ts');
  try {
    startDaemon(programFile, host);
  } catch {
    // The hook decides by itself, and says so where its log meets the same problem.
  }
}

/** Without a daemon. */
async function decideHere(question: HookQuestion): Promise<HookAnswer> {
  cacheCompiled();
  const { answerHook } = await import('./guard/hook.ts');
  const untilMs = startedAtMs + answerWithinMs - 500;
  return await answerHook(question, {
    ...host,
    untilMs,
    // Not unreferenced: a hook that waits for its turn must not end.
    pause: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
  });
}

/** Beside an installed copy, in the user's own folder: compiling the bundle takes longer than deciding. */
function cacheCompiled(): void {
  if (programFile.endsWith('.cjs')) enableCompileCache(join(dirname(programFile), 'compiled'));
}
