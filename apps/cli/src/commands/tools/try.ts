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
  $ holdfast try plugins/make_slug.mjs                    run its examples
  $ holdfast try plugins/make_slug.mjs --input '{"title": "Hello"}'
  $ holdfast try plugins/summarize.mjs --input '{"path": "data.csv"}' --workspace .
  $ holdfast try plugins/erase.mjs --input '{}' --allow erase
  $ holdfast try plugins/make_slug.mjs --json | jq '.calls[].outcome.text'

First checks the file like \`check\`, ignoring any lock. Then calls each example and compares the result, and calls the tool with
--input. All calls see the same files; writes through the tool's context are shown and discarded, but effects through node:fs or the
network are real. Other tools are not available.

Without a terminal, a dangerous tool is denied unless --allow names it. Ctrl-C stops a call. The tool runs in its own process, as in
a run; the only setting used from a configuration is the isolation. With --isolation in-process, a tool that never yields blocks
Ctrl-C and --timeout (Ctrl-\\ then ends the program). Exits with 1 if the file is invalid, a call fails, or an example gives another
result.`;

export function declare(command: Command, { host, end }: CommandContext): void {
  command
    .argument('<file>', 'tool file; its tool is executed')
    .option('--input <json>', 'arguments for one more call, besides the examples')
    .option('--workspace <dir>', 'folder whose files the tool can read; never changed (default: no files)')
    .option('--allow <name>', 'allow this dangerous tool without asking', collect)
    .option('--env <name>', 'pass this environment variable if the tool declares it; repeatable', collectVariables)
    .option('--timeout <seconds>', 'time limit per call (default: 60)', readSeconds)
    .option('--json', 'print JSON');
  addTrustOption(addConfigOptions(addIsolationOption(command, 'subprocess')))
    .addHelpText('after', help)
    .action(async (file: string, flags: Omit<TryOptions, 'file'>) => end(await tryTool({ ...flags, file }, host)));
}

export interface TryOptions extends ConfigFlags {
  readonly file: string;
  /** JSON text. */
  readonly input?: string;
  /** The folder whose files the tool can read. Absent: none. */
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
 * Checks one tool file, calls its tool with its examples and with `input`, and shows the results. Returns 1 if the file is invalid, a
 * call fails, or an example gives another result.
 *
 * @throws HoldfastError `usage.invalid` (`file_missing`, `file_not_tool`, `tool_unknown`, `input_missing`,
 * `workspace_missing`, `tools_around_workspace`), `config.*`.
 */
export async function tryTool(options: TryOptions, host: Host): Promise<ExitCode> {
  const { config, trust, json = false } = options;
  const found = { untrusted: 'refuse', trust, tools: false, taken: { stdin: false, stdout: json } } as const;
  // Tried with a run's isolation; no other setting applies to a single tool.
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
  // From here on a tool may print; that goes to stderr.
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
      `error: \`${tool.name}\` ended its process, and would end a run as well; \`--isolation subprocess\` runs it in its own (tool.process.lost: exited)\n`,
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
        // A denial also covers the other calls.
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

/** Gives each call the same files. */
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
  throw usageError('tool_unknown', `Unknown tool \`${other}\` for \`--allow\`: the tool of this file is \`${name}\`.`);
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
      // There is no later here: postponing stops the call.
      return answer.type === 'later' ? { type: 'deny' } : answer;
    },
  };
}
