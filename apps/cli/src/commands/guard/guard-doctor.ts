import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describeThrown } from '@holdfast/core/internal';
import { describeStyle } from '../../calls/line.ts';
import { findHook } from '../../guard/copy.ts';
import { type HttpPlace, isHttpHookUrl, readHttpPlace, toHttpHook } from '../../guard/http-place.ts';
import { eventsOf, hookCommand, installations } from '../../guard/install.ts';
import { readHooks } from '../../guard/installed.ts';
import { forgetSession } from '../../guard/retention.ts';
import { type Ended, runCommand, toEvent, toQuestion } from '../../guard/send-event.ts';
import { toSessionId } from '../../guard/session-id.ts';
import { findPlugin } from '../../plugins/found.ts';
import type { ExitCode } from '../../terminal/failure.ts';
import type { Host } from '../../terminal/host.ts';
import { printJson, printLines } from '../../terminal/print.ts';
import { toPrintable } from '../../terminal/text.ts';
import { describeSwitch } from './guard-off.ts';

/** Calls that no hook of an agent sees: observed, or documented by its makers. */
const unseen: Readonly<Record<string, readonly string[]>> = {
  'claude-code': [
    'files that are named with @ in a prompt',
    'a command that goes on in the background: only its start is seen',
    'a failing hook of a version before 2.1.295 lets the call through',
  ],
  codex: [
    'what is written to a shell that is open already (write_stdin)',
    'whether a command succeeded: Codex reports no exit code',
    'anything, while its hooks are not trusted, or with --disable hooks',
  ],
  gemini: [
    'files that are named with @ in a prompt, and commands after !',
    'anything, where settings of a trusted project have `hooksConfig`',
  ],
  cursor: [
    'completions in the editor, and files that are named with @ in a prompt',
    'the server of a tool of MCP',
    'anything, in a workspace that Cursor does not trust',
  ],
  copilot: [
    'whether a command succeeded, and which sub-agent called',
    'a call whose hook runs out of its time: Copilot lets it through',
    'anything, where settings of a repository have `disableAllHooks`',
  ],
  opencode: [
    'files that are attached to a prompt',
    'whether a tool failed that opencode does not report',
    'anything, with --pure, or if its plugin cannot be loaded: opencode goes on without a word',
  ],
  pi: ['files that are named with @ when pi is started, and commands after !', 'anything, with --no-extensions'],
};

const unseenByHttp = [
  'a call while its daemon is not running, by a version before 2.1.295',
  'another program that listens on the port of a daemon that is not running answers in its place',
];

interface Checked {
  readonly agent: string;
  /** Absent: no hook is installed. */
  readonly command?: string;
  /** The hook is of another version than this program, or runs on another Node.js. */
  readonly outdated?: boolean;
  /** By which file the agent has the guard as a plugin. */
  readonly plugin?: string;
  readonly problems: readonly string[];
  readonly unseen: readonly string[];
}

/** Sends a call that reads a secret and a harmless one through each installed command; 1 when one is not answered as it must be. */
export async function checkHooks({ json }: { readonly json?: boolean }, host: Host): Promise<ExitCode> {
  const checked = await Promise.all(Object.keys(installations).map((agent) => checkAgent(agent, host)));
  const failed = checked.some(({ problems }) => problems.length > 0);
  if (json === true) printJson(host, { agents: checked });
  else {
    const { colors } = describeStyle(host);
    printLines(
      host,
      checked.flatMap(({ agent, command, plugin, outdated, problems, unseen: gaps }) => [
        command === undefined && plugin !== undefined
          ? `${agent}: its plugin guards it (${plugin}); to try it, let the agent run \`cat .env\``
          : command === undefined
            ? colors.dim(`${agent}: not guarded; holdfast guard install ${agent}`)
            : problems.length === 0
              ? `${colors.green('ok')} ${agent}: a call that reads a secret is denied, a harmless one is let through`
              : `${colors.red('failed')} ${agent}`,
        ...(outdated === true
          ? [
              colors.yellow(
                `   the hook is not of this version of holdfast and Node.js: holdfast guard install ${agent}`,
              ),
            ]
          : []),
        ...problems.map((problem) => `   ${toPrintable(problem)}`),
        ...(command === undefined && plugin === undefined
          ? []
          : gaps.map((gap) => colors.dim(`   no hook sees: ${gap}`))),
      ]),
    );
  }
  return failed ? 1 : 0;
}

async function checkAgent(agent: string, host: Host): Promise<Checked> {
  const hooks = await readHooks({ agent }, host);
  const { before = '' } = installations[agent] ?? {};
  const [command, ...more] = hooks.get(before) ?? [];
  const http = command !== undefined && isHttpHookUrl(command) ? readHttpPlace(host) : undefined;
  const gaps = [...(unseen[agent] ?? []), ...(http === undefined ? [] : unseenByHttp)];
  const plugin = findPlugin(agent, host);
  const byPlugin = plugin === undefined ? {} : { plugin };
  if (command === undefined) return { agent, ...byPlugin, problems: [], unseen: gaps };
  const off = describeSwitch(host);
  if (off !== undefined) return { agent, command, ...byPlugin, problems: [off], unseen: gaps };
  const { words } = await findHook(host);
  const missing = eventsOf(agent, { http }).filter((event) => !hooks.has(event));
  const session = `doctor-${process.pid}`;
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-doctor-'));
  try {
    await writeFile(join(folder, '.env'), 'CHECK=1\n');
    const send = (input: string): Promise<Ended> => {
      const call = { session, id: `doctor-${input}`, command: input, folder };
      const event = toQuestion(agent, call);
      return http === undefined
        ? runCommand(command, { folder, environment: host.environment, input: event })
        : post(command, { agent, http, event, host });
    };
    // Starts the daemon.
    const [starter] = http === undefined ? [] : (hooks.get('SessionStart') ?? []);
    if (starter !== undefined) {
      const call = { session, id: 'doctor-start', command: '', folder };
      await runCommand(starter, { folder, environment: host.environment, input: toEvent('SessionStart', call) });
    }
    const denied = await send('cat .env');
    const allowed = await send('ls');
    return {
      agent,
      command,
      ...byPlugin,
      outdated: !isOfThisVersion(hooks, agent, words),
      problems: [
        ...missing.map((event) => `no hook for ${event}: install it again`),
        ...(plugin === undefined ? [] : [`it has the plugin as well (${plugin}): holdfast guard uninstall ${agent}`]),
        ...(more.length > 0 ? ['the hook is installed more than once'] : []),
        ...(isDenial(denied) ? [] : [`\`cat .env\` was not denied: ${describe(denied)}`]),
        ...(isAllowed(allowed) ? [] : [`\`ls\` was not let through: ${describe(allowed)}`]),
      ],
      unseen: gaps,
    };
  } finally {
    await rm(folder, { recursive: true, force: true });
    await forgetSession(toSessionId(agent, session), host);
  }
}

/** By the one command that every form has. */
function isOfThisVersion(
  hooks: ReadonlyMap<string, readonly string[]>,
  agent: string,
  words: readonly string[],
): boolean {
  const { before = '' } = installations[agent] ?? {};
  const event = hooks.has('UserPromptSubmit') ? 'UserPromptSubmit' : before;
  const [command] = hooks.get(event) ?? [];
  return command === hookCommand(agent, event, words);
}

interface Posted {
  readonly agent: string;
  readonly http: HttpPlace;
  readonly event: string;
  readonly host: Host;
}

/** Sends an event as the agent does; a daemon that is about to start gets a few seconds. */
async function post(url: string, { agent, http, event, host }: Posted): Promise<Ended> {
  const { clock } = host;
  const { headers } = toHttpHook(agent, http);
  for (const untilMs = clock.now() + 10_000; ; ) {
    try {
      const response = await fetch(url, { method: 'POST', headers, body: event });
      return { code: response.ok ? 0 : response.status, stdout: await response.text(), stderr: '' };
    } catch (thrown) {
      if (clock.now() >= untilMs) return { code: null, stdout: '', stderr: `no answer: ${describeThrown(thrown)}` };
      await new Promise<void>((resolve) => clock.after(100, () => resolve()));
    }
  }
}

function isDenial({ code, stdout }: Ended): boolean {
  return (code === 0 || code === 2) && /"(?:permissionDecision|decision|permission)":"deny"/.test(stdout);
}

/** Most agents are told nothing of a call that is let through. */
function isAllowed({ code, stdout }: Ended): boolean {
  return code === 0 && (stdout === '' || stdout === '{"permission":"allow"}');
}

function describe({ code, stdout, stderr }: Ended): string {
  return `exit code ${code}, ${JSON.stringify((stdout || stderr).slice(0, 300))}`;
}
