import { resolve } from 'node:path';
import type { Command } from 'commander';
import { createTwoFilesPatch } from 'diff';
import { describeStyle } from '../../calls/line.ts';
import type { CommandContext } from '../../flags/command.ts';
import { readCount, readPort } from '../../flags/values.ts';
import { agents } from '../../guard/hook.ts';
import { installations, settingsPath } from '../../guard/install.ts';
import { type Change, installHooks, readHooks, uninstallHooks } from '../../guard/installed.ts';
import { readOff } from '../../guard/off.ts';
import { requirePerson } from '../../guard/person.ts';
import { findPlugin } from '../../plugins/found.ts';
import { type ExitCode, usageError } from '../../terminal/failure.ts';
import type { Host } from '../../terminal/host.ts';
import { printJson, printLines } from '../../terminal/print.ts';
import { toPrintable } from '../../terminal/text.ts';
import { isFolder } from '../../workspace/folder.ts';
import type { LearnFlags } from './guard-learn.ts';
import { declareSwitches, describeSwitch } from './guard-off.ts';

const help = `
Agents: ${Object.keys(agents).join(', ')}

Examples:
  $ holdfast guard install claude-code            for all your projects
  $ holdfast guard install codex --project .      for this project
  $ holdfast guard install codex --wait 60        hold a question open for a minute, for \`holdfast approve\`
  $ holdfast guard install claude-code --http     send calls to the daemon, without a process for each
  $ holdfast guard doctor                         send a denied and an allowed call through the installed hooks
  $ holdfast guard off --minutes 30               let every call through for a while
  $ holdfast guard run -- npm test                run a command and tell the guard how it went
  $ holdfast guard uninstall claude-code          put the settings back
  $ holdfast guard plugins ./plugins              write a plugin for each agent, to share

Calls are judged by what they do: secrets, destructive commands, what runs by itself, and the guard itself. Each decision is in a log
of yours; \`holdfast pending\`, \`approve\`, \`show\` and \`why\` work on it.`;

interface PlaceFlags {
  readonly project?: string | undefined;
  readonly json?: boolean | undefined;
  readonly wait?: number | undefined;
  readonly http?: boolean | undefined;
}

export function declare(command: Command, context: CommandContext): void {
  const { host, end } = context;
  command.addHelpText('after', help);
  const place = (name: string, description: string): Command =>
    command
      .command(name)
      .description(description)
      .argument('<agent>', Object.keys(agents).join(', '))
      .option('--project <dir>', 'the settings of a project (default: your own)')
      .option('--json', 'as JSON');
  place('install', "add the guard to an agent's hooks")
    .option('--wait <seconds>', 'hold a question open for that long, up to 10 minutes', readCount)
    .option('--http', 'send calls to the daemon by HTTP: faster, for Claude Code 2.1.295 or later')
    .action(async (agent: string, flags: PlaceFlags) => end(await changeHooks('install', agent, flags, host)));
  place('uninstall', "take the guard out of an agent's hooks").action(async (agent: string, flags: PlaceFlags) =>
    end(await changeHooks('uninstall', agent, flags, host)),
  );
  command
    .command('plugins')
    .description('write a plugin for each agent into a new folder, which is also a marketplace')
    .argument('<dir>', 'a new or empty folder')
    .action(async (folder: string) => {
      const { writePlugins } = await import('./guard-plugins.ts');
      end(await writePlugins(folder, host));
    });
  declareSwitches(command, context);
  command
    .command('run')
    .description('run a command and tell the guard its exit code, for agents that report none')
    .usage('-- <command...>')
    .argument('<command...>', 'program and arguments, after `--`')
    .action(async (words: readonly string[]) => {
      const { runReported } = await import('./guard-run.ts');
      end(await runReported(words, host));
    });
  command
    .command('serve')
    .description('open the page of `holdfast studio`')
    .option('--port <number>', 'port of 127.0.0.1; 0: a free one', readPort, 0)
    .action(async (flags: { readonly port: number }) => {
      const { openStudio } = await import('../look/studio.ts');
      end(await openStudio(flags, host));
    });
  command
    .command('status')
    .description('show which agents are guarded')
    .option('--json', 'as JSON')
    .action(async (flags: { readonly json?: boolean }) => end(await showStatus(flags, host)));
  command
    .command('learn')
    .description('propose exceptions from the questions that you answered with yes again and again')
    .option('--days <n>', 'sessions that changed in the last days (default: 30)', readCount)
    .option('--times <n>', 'how often you said yes (default: 3)', readCount)
    .action(async (flags: LearnFlags) => {
      const { showLearned } = await import('./guard-learn.ts');
      end(await showLearned(flags, host));
    });
  command
    .command('doctor')
    .description('send a denied and an allowed call through the installed hooks')
    .option('--json', 'as JSON')
    .action(async (flags: { readonly json?: boolean }) => {
      const { checkHooks } = await import('./guard-doctor.ts');
      end(await checkHooks(flags, host));
    });
}

/** @throws HoldfastError `usage.invalid` (`agent_unknown`, `folder_missing`, `option_unused`, `plugin_installed`), `guard.person_required`, `settings.invalid`. */
async function changeHooks(
  what: 'install' | 'uninstall',
  agent: string,
  { project, json, wait, http }: PlaceFlags,
  host: Host,
): Promise<ExitCode> {
  if (!Object.hasOwn(agents, agent)) {
    const known = Object.keys(agents).join(', ');
    throw usageError('agent_unknown', `Unknown agent \`${agent.slice(0, 100)}\`. Known agents: ${known}.`);
  }
  if (project !== undefined && !(await isFolder(resolve(host.directory, project))))
    throw usageError(
      'folder_missing',
      `\`${project}\` is not a folder: give the folder of a project, or leave out --project for your own settings.`,
    );
  if (http === true) checkHttp(agent, project);
  if (wait !== undefined && installations[agent]?.holds !== true)
    throw usageError('option_unused', `${agent} cannot hold a question open: leave out --wait.`);
  const plugin = what === 'install' ? findPlugin(agent, host) : undefined;
  if (plugin !== undefined)
    throw usageError(
      'plugin_installed',
      `${agent} has the guard as a plugin (${plugin}): remove the plugin first, or leave it as it is.`,
    );
  if (what === 'uninstall') requirePerson('take a guard away', host);
  const place = { agent, project: project === undefined ? undefined : resolve(host.directory, project) };
  const change = await (what === 'install'
    ? installHooks(place, host, { waitSeconds: wait && Math.min(wait, 600), http })
    : uninstallHooks(place, host));
  if (json === true) {
    const { path, changed, others } = change;
    printJson(host, { agent, path, changed, otherHooks: others });
  } else printLines(host, describeChange(what, agent, change, host));
  return 0;
}

/** @throws HoldfastError `usage.invalid` (`option_unused`). */
function checkHttp(agent: string, project: string | undefined): void {
  if (installations[agent]?.byHttp === undefined)
    throw usageError('option_unused', `${agent} has no hooks by HTTP: leave out --http.`);
  if (project !== undefined)
    throw usageError(
      'option_unused',
      '`--http` writes the token of your daemon into the settings: leave out --project, whose files others read.',
    );
}

function describeChange(what: string, agent: string, change: Change, host: Host): readonly string[] {
  const { colors } = describeStyle(host);
  const { path, changed, before = '', after = '', others } = change;
  if (!changed)
    return [`Nothing to do: ${path} ${what === 'install' ? 'has the hooks already' : 'has no hooks of ours'}.`];
  const patch = createTwoFilesPatch(path, path, before, after, '', '', { context: 1 }).split('\n').slice(1);
  const lines = patch.map((line) => {
    const shown = toPrintable(line);
    return line.startsWith('+') ? colors.green(shown) : line.startsWith('-') ? colors.red(shown) : colors.dim(shown);
  });
  const rewriting = others.filter(({ event }) => event === installations[agent]?.before);
  return [
    ...lines,
    ...rewriting.map(({ command }) =>
      colors.yellow(`Another hook may rewrite a call after it was decided: ${toPrintable(command)}`),
    ),
    what === 'install' ? `${agent} is guarded from its next session on.` : `${agent} is not guarded any more.`,
    ...(what === 'install' && agent === 'codex'
      ? [colors.yellow('Codex skips new hooks until you trust them: type /hooks in Codex once.')]
      : []),
  ];
}

async function showStatus({ json }: { readonly json?: boolean }, host: Host): Promise<ExitCode> {
  const rows = await Promise.all(
    Object.entries(installations).map(async ([agent, { events }]) => {
      const found = await readHooks({ agent }, host);
      const missing = events.filter((event) => !found.has(event));
      const plugin = findPlugin(agent, host);
      return {
        agent,
        path: settingsPath({ agent }, host),
        guarded: missing.length === 0,
        missing,
        ...(plugin === undefined ? {} : { plugin }),
      };
    }),
  );
  if (json === true) printJson(host, { agents: rows, offUntilMs: readOff(host, host.clock.now()) ?? null });
  else {
    const off = describeSwitch(host);
    const lines = rows.map(({ agent, path, guarded, missing, plugin }) => {
      if (plugin !== undefined)
        return `${agent}: guarded by its plugin (${plugin})${guarded ? ` and by its settings (${path}): one is enough` : ''}`;
      if (guarded) return `${agent}: guarded (${path})`;
      const none = missing.length === installations[agent]?.events.length;
      return `${agent}: ${none ? 'not guarded' : `no hook for ${missing.join(', ')}: install it again`}`;
    });
    printLines(host, off === undefined ? lines : [off, ...lines]);
  }
  return 0;
}
