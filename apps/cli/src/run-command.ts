import { relative } from 'node:path';
import type { Budget, Model, Prompt, Tool } from '@holdfast/core';
import { createBudget, runAgent } from '@holdfast/executor';
import { hostFilesystem } from '@holdfast/filesystem/node';
import { formatDiagnostic } from '@holdfast/loader';
import { createSession, type Session } from '@holdfast/session';
import { createApprover } from './approver.ts';
import { formatCount, type LineStyle } from './call-line.ts';
import { createColors } from './colors.ts';
import { type ExitCode, interruptionCodes, usageError } from './failure.ts';
import { describeTerminal, type Host, type Interruption } from './host.ts';
import { openModel } from './models.ts';
import { createOrderPolicies, createRunPrompt } from './run-prompt.ts';
import { createRunSummary } from './run-summary.ts';
import { createJsonView, createLiveView, createPlainView, type RunView } from './run-view.ts';
import { createSessionId, prepareLogPath } from './session-logs.ts';
import { toPrintable } from './terminal-text.ts';
import { findToolsFolder, openToolset, type Toolset } from './toolset.ts';
import { findProtectedPaths, openWorkspace, shortenPath } from './workspace.ts';

export interface RunOptions {
  readonly request: string;
  /** Whether the request came from there, so that no answer can. */
  readonly stdinTaken: boolean;
  /** Absent: the default folder, when there is one. */
  readonly tools: string | undefined;
  readonly workspace: string;
  /** `offline`, `script:<file>` or `<provider>:<model>`. */
  readonly model: string;
  readonly json: boolean;
  /** How calls that need approval are answered. */
  readonly approval: 'ask' | 'yes' | 'unattended';
  /** Dangerous tools that need none. */
  readonly allow: readonly string[];
  /** Names of tools from first to last. */
  readonly order: readonly (readonly string[])[];
  readonly maxRounds: number | undefined;
  /** Calls that are run, nested ones included. */
  readonly maxCalls: number | undefined;
  /** Read and written, as the model reports them. */
  readonly maxTokens: number | undefined;
  readonly timeoutMs: number | undefined;
}

/**
 * Gives a request to a model with the tools of the folder and of the workspace, shows the run and records it.
 *
 * @throws HoldfastError `usage.*`, and what model, prompt or session log throw before the run begins.
 */
export async function runRequest(options: RunOptions, host: Host): Promise<ExitCode> {
  const workspace = await openWorkspace(options.workspace, host.directory);
  const folder = await findToolsFolder(options.tools, host.directory);
  const protectedPaths = await findProtectedPaths(workspace, folder.path);
  const toolset = await openToolset(folder);
  const tools = [...toolset.fileTools, ...toolset.folderTools];
  checkNames('--allow', options.allow, tools);
  checkNames('--order', options.order.flat(), tools);
  const model = await openModel(options.model, host);
  const prompt = createRunPrompt(toolset);

  for (const diagnostic of toolset.diagnostics) {
    host.stderr.write(`${formatDiagnostic(diagnostic, { folder: toolset.folder.name })}\n`);
  }
  const terminal = describeTerminal(host.stdout, host.environment);
  const style: LineStyle = { colors: createColors(terminal.color), columns: terminal.columns };
  if (!options.json)
    host.stdout.write(
      `${style.colors.dim(describeSetting({ model, toolset, place: shortenPath(workspace, host.directory) }))}\n`,
    );

  const id = createSessionId({ clock: host.clock, suffix: host.createSuffix() });
  const store = host.openLog(await prepareLogPath(workspace, id));
  const session = createSession({ id, store, clock: host.clock });
  try {
    const setup = { model, prompt, tools, session, filesystem: hostFilesystem(workspace, { protectedPaths }) };
    return await perform(setup, { options, host, style, live: terminal.live });
  } finally {
    await closeSession(session, host);
    if (!options.json) host.stdout.write(`${style.colors.dim(`session log: ${describeShow(id, workspace, host)}`)}\n`);
  }
}

/** What calls have left open for the session gets its time to end: a first signal does not cut that short. */
async function closeSession(session: Session, host: Host): Promise<void> {
  const stopListening = host.onInterrupt(() => undefined);
  try {
    await session.close();
  } finally {
    stopListening();
  }
}

interface Setup {
  readonly model: Model;
  readonly prompt: Prompt;
  readonly tools: readonly Tool[];
  readonly session: Session;
  readonly filesystem: unknown;
}

interface Surroundings {
  readonly options: RunOptions;
  readonly host: Host;
  readonly style: LineStyle;
  readonly live: boolean;
}

async function perform(
  { model, prompt, tools, session, filesystem }: Setup,
  { options, host, style, live }: Surroundings,
): Promise<ExitCode> {
  const controller = new AbortController();
  let interruption: Interruption | undefined;
  const interrupt = (cause: Interruption): void => {
    interruption ??= cause;
    controller.abort();
  };
  const stopListening = host.onInterrupt(interrupt);
  const view = openView({ options, host, style, live });
  const approver = createApprover(options.approval !== 'unattended', {
    host,
    view,
    taken: { stdin: options.stdinTaken, stdout: options.json },
    onInterrupt: () => interrupt('ctrl-c'),
  });
  controller.signal.addEventListener('abort', approver.close);
  const { maxRounds, timeoutMs } = options;
  const budget = createRunBudget(options, host);
  const summary = createRunSummary(tools, { maxRounds, timeoutMs, budget });
  try {
    const run = runAgent({
      model,
      prompt,
      session,
      input: options.request,
      policies: createOrderPolicies(options.order),
      resources: { filesystem },
      // Granted by the host, and not answered for a person: the log has to tell the two apart.
      grants: options.approval === 'yes' ? tools.map(({ name }) => name) : options.allow,
      signal: controller.signal,
      clock: host.clock,
      // Called at once, so that everything that came before a question stands above it.
      onEvent(event) {
        summary.add(event);
        view.show(event);
      },
      ...approver.callOptions,
      ...(maxRounds === undefined ? {} : { maxRounds }),
      ...(timeoutMs === undefined ? {} : { timeoutMs }),
      ...(budget === undefined ? {} : { budget }),
    });
    const { status } = await run.result;
    view.close();
    if (!options.json) {
      for (const line of summary.describe(style, approver.absence)) host.stdout.write(`${line}\n`);
    }
    if (status === 'completed') return 0;
    return interruption === undefined ? 1 : interruptionCodes[interruption];
  } catch (thrown) {
    // The calls that were recorded stand, whatever came after them.
    view.close();
    if (!options.json) for (const line of summary.describeBroken(style)) host.stdout.write(`${line}\n`);
    throw thrown;
  } finally {
    approver.close();
    view.close();
    stopListening();
  }
}

function createRunBudget({ maxCalls, maxTokens }: RunOptions, { clock }: Host): Budget | undefined {
  if (maxCalls === undefined && maxTokens === undefined) return undefined;
  const limits = {
    ...(maxCalls === undefined ? {} : { maxCalls }),
    ...(maxTokens === undefined ? {} : { maxTokens }),
  };
  return createBudget(limits, { clock });
}

function openView({ options, host, style, live }: Surroundings): RunView {
  if (options.json) return createJsonView(host.reserveStdout(), { stacks: host.environment['HOLDFAST_DEBUG'] === '1' });
  if (live) return createLiveView(host.stdout, { style, clock: host.clock });
  return createPlainView((text) => host.stdout.write(text), style);
}

function describeSetting({
  model,
  toolset,
  place,
}: {
  readonly model: Model;
  readonly toolset: Toolset;
  readonly place: string;
}): string {
  const { folder, folderTools, fileTools } = toolset;
  const tools =
    folder.path === undefined
      ? `${formatCount(fileTools.length, 'file tool')} (no tools folder \`${folder.name}\`)`
      : `${formatCount(fileTools.length, 'file tool')}, ${formatCount(folderTools.length, 'tool')} from ${folder.name}`;
  return toPrintable(`${model.id} · ${tools} · in ${place}`);
}

function describeShow(id: string, workspace: string, { command, directory }: Host): string {
  const place = relative(directory, workspace);
  if (place === '') return `${command} show ${id}`;
  const quoted = /^[\w./~-]+$/.test(place) ? place : `'${place.replaceAll("'", `'\\''`)}'`;
  return `${command} show ${id} --workspace ${toPrintable(quoted)}`;
}

function checkNames(option: string, names: readonly string[], tools: readonly Tool[]): void {
  const known = new Set(tools.map(({ name }) => name));
  for (const name of names) {
    if (known.has(name)) continue;
    throw usageError(
      'usage.tool_unknown',
      `\`${option}\` names \`${name}\`, which is no tool of this run. There are: ${[...known].join(', ')}.`,
    );
  }
}
