import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { PassThrough } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { HoldfastError } from '@holdfast/core';
import { formatDuration } from '@holdfast/orchestrator/text';
import type { Command } from 'commander';
import { describeStyle } from '../../calls/line.ts';
import type { CommandContext } from '../../flags/command.ts';
import { findHook } from '../../guard/copy.ts';
import { daemonFolder, toSocket } from '../../guard/daemon/place.ts';
import { type Daemon, serveGuard } from '../../guard/daemon/serve.ts';
import { keepFromStarting } from '../../guard/daemon/start.ts';
import { installHooks, readHooks } from '../../guard/installed.ts';
import { makeCall, type Tried } from '../../guard/scripted-agent.ts';
import { runCommand } from '../../guard/send-event.ts';
import { toSessionId } from '../../guard/session-id.ts';
import type { ExitCode } from '../../terminal/failure.ts';
import type { Host } from '../../terminal/host.ts';
import { Interruptions } from '../../terminal/interruptions.ts';
import { toJsonText } from '../../terminal/json.ts';
import { toPrintable } from '../../terminal/text.ts';
import { guardFolder } from '../../user/guard-folder.ts';
import { explainWhy } from '../look/why.ts';
import { diffPolicies } from '../policies/policy-diff.ts';

const help = `
A scripted coding agent works in a temporary folder with a home of its own, guarded by the hook that \`holdfast guard install
claude-code\` installs. No key, no network, and your own files and settings are not touched. Exits with 1 if the guard answered
otherwise than it must.`;

export function declare(command: Command, { host, end }: CommandContext): void {
  command
    .option('--json', 'print JSON')
    .addHelpText('after', help)
    .action(async (flags: { readonly json?: boolean }) => end(await runDemo(flags, host)));
}

interface Step {
  readonly command: string;
  readonly answer: Tried['answer'];
}

const steps: readonly Step[] = [
  { command: 'ls', answer: 'allowed' },
  { command: 'cat .env', answer: 'denied' },
  { command: 'git push origin main', answer: 'denied' },
  { command: 'npm test', answer: 'allowed' },
  { command: 'git push origin main', answer: 'allowed' },
  { command: 'node -e "console.log(6 * 7)"', answer: 'asked' },
];

const start = [
  'git init -q -b main',
  'git add -A',
  'git -c user.name=Demo -c user.email=demo@example.invalid commit -qm Start',
  'git init -q --bare ../remote.git',
  'git remote add origin ../remote.git',
].join(' && ');

/** The files of the demo's temporary folder. */
const files: Readonly<Record<string, string>> = {
  'project/.env': 'API_KEY=this-must-not-reach-a-model\n',
  'project/.gitignore': '.env\n',
  'project/package.json': '{ "private": true, "scripts": { "test": "node price.test.js" } }\n',
  'project/price.test.js': "require('node:assert').strictEqual(2 * 3, 6);\n",
};

const session = 'demo';

/** Shows a guarded session from start to end; 1 when an answer is not the expected one. */
export async function runDemo({ json = false }: { readonly json?: boolean }, host: Host): Promise<ExitCode> {
  const startedAtMs = host.clock.now();
  using interruptions = new Interruptions(host);
  const { signal } = interruptions;
  const base = await realpath(await mkdtemp(join(tmpdir(), 'holdfast-demo-')));
  const { colors } = describeStyle(host);
  const write = (...lines: readonly string[]): void => {
    if (!json) host.stdout.write(lines.map((line) => `${line}\n`).join(''));
  };
  let daemon: Daemon | undefined;
  try {
    const own = await makeHome(base, { host, signal });
    write(...introduce(colors.bold));
    await installHooks({ agent: 'claude-code' }, own);
    daemon = await startOwnDaemon(own);
    const hooks = await readHooks({ agent: 'claude-code' }, own);
    const agent = { hooks, session, folder: join(base, 'project'), environment: own.environment, signal };
    const tried: Tried[] = [];
    for (const [index, { command }] of steps.entries()) {
      const call = await makeCall({ id: `call-${index + 1}`, command }, agent);
      tried.push(call);
      write(...describeTried(call, colors));
    }
    const place = { workspace: guardFolder(own), json };
    const id = toSessionId('claude-code', session);
    const why = await capture(own, (inner) => explainWhy({ ...place, id, call: 'call-2' }, inner));
    const sides = { pack: '@holdfast/pack-shell', from: 'recommended', to: 'strict' };
    const diff = await capture(own, (inner) => diffPolicies({ ...place, ...sides, ids: [id] }, inner));
    if (json) {
      host.stdout.write(`${toJsonText({ calls: tried, why: JSON.parse(why), diff: JSON.parse(diff) }, 2)}\n`);
    } else {
      write('', colors.bold('Why was call-2 denied?'), colors.dim(`$ ${host.command} why call-2`), '', why.trimEnd());
      write('', colors.bold('The same session under a stricter policy'));
      write(colors.dim(`$ ${host.command} policy diff --pack ${sides.pack} --from ${sides.from} --to ${sides.to}`));
      write('', diff.trimEnd(), '', conclude(host.clock.now() - startedAtMs));
      write(`Guard your own agent: ${host.command} guard install claude-code`);
    }
    const wrong = tried.filter(({ answer }, index) => answer !== steps[index]?.answer);
    for (const { command, answer, reason } of wrong)
      host.stderr.write(`${toPrintable(`\`${command}\` should not have been ${answer}. ${reason ?? ''}`)}\n`);
    return interruptions.exitCode ?? (wrong.length === 0 ? 0 : 1);
  } catch (thrown) {
    if (interruptions.exitCode === undefined) throw thrown;
    return interruptions.exitCode;
  } finally {
    await daemon?.end();
    await rm(base, { recursive: true, force: true, maxRetries: 5 });
  }
}

function introduce(bold: (text: string) => string): readonly string[] {
  return [
    bold('A scripted agent, guarded by the hook for Claude Code'),
    'It works in a temporary folder with a home of its own. Every call goes through the real hook. No key, no network.',
    '',
  ];
}

function conclude(ms: number): string {
  return `That took ${formatDuration(ms)}; the temporary folder is removed.`;
}

function describeTried(
  { id, command, answer, reason, ran, exitCode }: Tried,
  colors: ReturnType<typeof describeStyle>['colors'],
): readonly string[] {
  const paint = { allowed: colors.green, denied: colors.yellow, asked: colors.cyan }[answer];
  const how = ran ? `ran, exit code ${exitCode}` : 'did not run';
  return [
    `${colors.dim(id)}  ${colors.bold(`$ ${command}`)}`,
    `        ${paint(answer)}${answer === 'asked' ? '' : `, ${how}`}`,
    ...(reason === undefined ? [] : [`        ${toPrintable(reason)}`]),
    ...(answer === 'asked' ? [`        The agent asks its person. In your place the demo says yes: ${how}`] : []),
  ];
}

/** A host whose home is below `base`; the environment has no settings of this user's programs. */
async function makeHome(
  base: string,
  { host, signal }: { readonly host: Host; readonly signal: AbortSignal },
): Promise<Host> {
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(base, path)), { recursive: true });
    await writeFile(join(base, path), text);
  }
  const home = join(base, 'home');
  await mkdir(home);
  const kept = ['PATH', 'Path', 'SystemRoot', 'ComSpec', 'PATHEXT', 'TERM', 'NO_COLOR', 'FORCE_COLOR'];
  const environment = {
    ...Object.fromEntries(kept.map((name) => [name, host.environment[name]])),
    HOME: home,
    USERPROFILE: home,
    HOLDFAST_HOME: join(home, 'holdfast'),
    TMPDIR: base,
    GIT_CONFIG_NOSYSTEM: '1',
    NODE_COMPILE_CACHE: join(base, 'compiled'),
    npm_config_update_notifier: 'false',
  };
  const { code, stderr } = await runCommand(start, { folder: join(base, 'project'), environment, signal });
  if (code !== 0)
    throw new HoldfastError('command.failed', `The demo needs git and npm: ${stderr.trim()}`, {
      data: { reason: 'demo' },
    });
  // Packs are found from here.
  return { ...host, environment, directory: dirname(fileURLToPath(import.meta.url)) };
}

/** The daemon that answers the hooks, in this process: one that a hook had started would outlive an interrupted demo. */
async function startOwnDaemon(own: Host): Promise<Daemon | undefined> {
  const { words } = await findHook(own);
  // Where the path is too long for a socket, each hook decides by itself.
  const hasSocket = toSocket(daemonFolder(own), '00000000') !== undefined;
  const daemon = hasSocket ? await serveGuard(words.at(-1) ?? '', own) : undefined;
  keepFromStarting(own);
  return daemon;
}

/** The output of a command. */
async function capture(host: Host, run: (inner: Host) => Promise<ExitCode>): Promise<string> {
  const { isTTY = false, columns = 0, rows = 0 } = host.stdout;
  const stdout = Object.assign(new PassThrough(), { isTTY, columns, rows });
  let text = '';
  stdout.on('data', (chunk: Buffer) => {
    text += chunk.toString();
  });
  const write = (chunk: string): void => void stdout.write(chunk);
  await run({ ...host, stdout, reserveStdout: () => write });
  return text;
}
