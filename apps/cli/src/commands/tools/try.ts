import { realpath } from 'node:fs/promises';
import type { PendingApproval, Tool } from '@holdfast/core';
import type { HostAnswer } from '@holdfast/executor';
import { memoryFilesystem } from '@holdfast/filesystem';
import { hostFilesystem } from '@holdfast/filesystem/node';
import { formatDiagnostic, type Isolation } from '@holdfast/loader';
import type { Command } from 'commander';
import { toDryFilesystem } from '../../calls/dry-filesystem.ts';
import { describeStyle } from '../../calls/line.ts';
import { addIsolationOption } from '../../flags/approval.ts';
import type { CommandContext } from '../../flags/command.ts';
import { addConfigOptions, addTrustOption, type ConfigFlags } from '../../flags/config.ts';
import { collect, collectVariables, readSeconds } from '../../flags/values.ts';
import { askPerson } from '../../run/ask-person.ts';
import { openEnvironment, reportUnused } from '../../settings/environment-consent.ts';
import { findIsolation } from '../../settings/settings.ts';
import { createColors } from '../../terminal/colors.ts';
import { type ExitCode, usageError } from '../../terminal/failure.ts';
import { describeTerminal, findQuestionStream, type Host } from '../../terminal/host.ts';
import { Interruptions } from '../../terminal/interruptions.ts';
import { toJsonText } from '../../terminal/json.ts';
import { makeCall, planCalls, type TriedCall } from '../../try/calls.ts';
import { openTarget, type TryTarget } from '../../try/target.ts';
import { describeTrial, formatEnd, formatPlanned, formatTarget, formatTried } from '../../try/view.ts';
import { findProtectedPaths, openWorkspace } from '../../workspace/folder.ts';

const help = `
Examples:
  $ holdfast try plugins/make_slug.mjs                    its examples
  $ holdfast try plugins/make_slug.mjs --input '{"title": "Hello"}'
  $ holdfast try plugins/summarize.mjs --input '{"path": "data.csv"}' --workspace .
  $ holdfast try plugins/erase.mjs --input '{}' --allow erase
  $ holdfast try plugins/make_slug.mjs --json | jq '.calls[].outcome.text'

The file is checked as \`check\` does, whatever is locked. Then each example is called and compared with what it says, and the tool is
called with the input. Each call finds the same files, and what it writes through its context is shown and then dropped; what it
does by itself, with node:fs or the network, is done. Other tools are not there.

Nobody is asked without a terminal: a dangerous tool is denied there unless --allow names it. Ctrl-C ends a call. The tool runs
in a process of its own, as in a run; of a configuration only its isolation counts here. With --isolation in-process, one that
never lets go of its thread keeps Ctrl-C and --timeout from being seen (Ctrl-\\ ends the program then). Exits with 1 when the
file is refused, a call does not succeed, or an example is not as it says.`;

export function declare(command: Command, { host, end }: CommandContext): void {
  command
    .argument('<file>', 'the tool file; its tool runs')
    .option('--input <json>', 'arguments to call it with, beside those of its examples')
    .option('--workspace <dir>', 'files that the tool finds; none of them is changed (default: no files)')
    .option('--allow <name>', 'let the tool of this name run without asking, though it is dangerous', collect)
    .option('--env <name>', 'give it this environment variable, if it declares it; may be repeated', collectVariables)
    .option('--timeout <seconds>', 'the longest that a call may take (default: 60)', readSeconds)
    .option('--json', 'as JSON');
  addTrustOption(addConfigOptions(addIsolationOption(command, 'subprocess')))
    .addHelpText('after', help)
    .action(async (file: string, flags: Omit<TryOptions, 'file'>) => end(await tryTool({ ...flags, file }, host)));
}

export interface TryOptions extends ConfigFlags {
  readonly file: string;
  /** JSON text. */
  readonly input?: string;
  /** Whose files the tool finds, and does not change. Absent: none. */
  readonly workspace?: string;
  readonly isolation?: Isolation;
  /** Dangerous tools that need no approval. */
  readonly allow?: readonly string[];
  /** Environment variables for the tool, if it declares them. */
  readonly env?: readonly string[];
  /** Seconds. */
  readonly timeout?: number;
  readonly json?: boolean;
}

/**
 * Checks one tool file, calls its tool with its examples and with `input`, and shows what came of it; 1 when the file is refused, a
 * call does not succeed, or an example comes to something else.
 *
 * @throws HoldfastError `usage.file_missing`, `usage.file_not_tool`, `usage.tool_unknown`, `usage.input_missing`,
 * `usage.workspace_missing`, `usage.tools_around_workspace`, `config.*`.
 */
export async function tryTool(options: TryOptions, host: Host): Promise<ExitCode> {
  const { config, trust, json = false } = options;
  const found = { untrusted: 'refuse', trust, tools: false, taken: { stdin: false, stdout: json } } as const;
  // Tried where a run would have it: of a configuration nothing else counts for one tool alone.
  const isolation = options.isolation ?? (await findIsolation({ config }, { host, found }));
  const environment = await openEnvironment({ names: options.env ?? [], taken: found.taken }, host);
  const target = await openTarget(options.file, { isolation, environment }, host);
  reportUnused(environment, host);
  using stop = new Interruptions(host);
  try {
    const ok = await tryTarget(target, options, { host, stop });
    return stop.exitCode ?? (ok ? 0 : 1);
  } finally {
    await target.close();
  }
}

interface Surroundings {
  readonly host: Host;
  readonly stop: Interruptions;
}

async function tryTarget(target: TryTarget, options: TryOptions, surroundings: Surroundings): Promise<boolean> {
  const { host, stop } = surroundings;
  const { json = false, allow = [], timeout = 60 } = options;
  const { tool, diagnostics } = target;
  const style = describeStyle(host);
  const planned = tool === undefined ? [] : planCalls(tool, options.input);
  if (tool !== undefined) checkAllowed(tool, allow);
  const createFilesystem = await openFiles(options.workspace, target, host);
  // From here on a tool may run, and print: that goes to stderr.
  const write = host.reserveStdout();
  const say = (lines: readonly string[]): void => {
    if (!json) write(lines.map((line) => `${line}\n`).join(''));
  };
  say(diagnostics.map((diagnostic) => formatDiagnostic(diagnostic, { folder: target.folder })));
  say(formatTarget(target, style));

  const calls: TriedCall[] = [];
  if (tool !== undefined) {
    const approver = createApprover(tool, options, surroundings);
    const guard = host.guardExit(
      `error: \`${tool.name}\` ended the process in which it ran, and so would a run; \`--isolation subprocess\` gives it one of its own (tool.process.exited)\n`,
    );
    try {
      for (const one of planned) {
        if (stop.signal.aborted) break;
        say(formatPlanned(one, style));
        const tried = await makeCall(one, {
          tool,
          createFilesystem,
          approve: approver.approve,
          allowed: approver.isAllowed(),
          timeoutMs: timeout * 1000,
          signal: stop.signal,
          clock: host.clock,
        });
        calls.push(tried);
        say(formatTried(tried, style, { debug: host.environment['HOLDFAST_DEBUG'] === '1' }));
        // Whoever said no has said so of the others, too.
        if (tried.end.outcome.kind === 'denied') break;
      }
    } finally {
      guard();
    }
  }
  const ok =
    tool !== undefined &&
    calls.length === planned.length &&
    calls.every(({ end, mismatch }) => end.outcome.kind === 'ok' && !mismatch);
  if (json) write(`${toJsonText(describeTrial({ target, calls, ok }), 2)}\n`);
  say(formatEnd({ calls, planned, ok }, style));
  return ok;
}

/** The files that each call finds, the same ones for all of them. */
async function openFiles(
  name: string | undefined,
  { folderPath }: TryTarget,
  { directory }: Host,
): Promise<() => unknown> {
  if (name === undefined) return () => memoryFilesystem();
  const workspace = await openWorkspace(name, directory);
  const protectedPaths = await findProtectedPaths(workspace, {
    toolsFolder: await realpath(folderPath),
    imported: [],
  });
  return () => toDryFilesystem(hostFilesystem(workspace, { protectedPaths }));
}

function checkAllowed({ name }: Tool, allow: readonly string[]): void {
  const other = allow.find((one) => one !== name);
  if (other === undefined) return;
  throw usageError('usage.tool_unknown', `\`--allow\` names \`${other}\`, but the tool of this file is \`${name}\`.`);
}

interface TryApprover {
  readonly approve: ((pending: PendingApproval) => Promise<HostAnswer>) | undefined;
  isAllowed(): boolean;
}

function createApprover(
  tool: Tool,
  { allow = [], json = false }: TryOptions,
  { host, stop }: Surroundings,
): TryApprover {
  let allowed = allow.includes(tool.name);
  const isAllowed = (): boolean => allowed;
  const output = findQuestionStream(host, { stdin: false, stdout: json });
  if (output === undefined) return { approve: undefined, isAllowed };
  const { color, columns } = describeTerminal(output, host.environment);
  return {
    isAllowed,
    async approve(pending) {
      const answer = await askPerson(pending, {
        input: host.stdin,
        output,
        style: { colors: createColors(color), columns },
        signal: stop.signal,
        onInterrupt: () => stop.interrupt('ctrl-c'),
        canWait: false,
      });
      if (answer.type === 'approve' && answer.grant === true) allowed = true;
      // Put off is broken off here.
      return answer.type === 'later' ? { type: 'deny' } : answer;
    },
  };
}
