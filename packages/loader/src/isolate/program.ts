import { HoldfastError, type Json, type ToolContext } from '@holdfast/core';
import type { MetadataForm } from '../check/metadata.ts';
import { childLimits } from '../child/call-messages.ts';
import { commandLanguage } from '../language/command-language.ts';
import { createPythonLanguage } from '../language/python-language.ts';
import { beginWith } from './begin-with.ts';
import { findProject, sandboxCommand } from './bubblewrap.ts';
import { toolEnvironment } from './environment.ts';
import { processFailure } from './failures.ts';
import { backgroundClock } from './pool.ts';
import { type Command, limitProcess, programMemoryLimit } from './process-command.ts';
import { ProcessGroups } from './process-groups.ts';
import { type ProgramEnd, runProgram } from './run-program.ts';
import { createSandboxFinder, type SandboxRunnerOptions } from './sandbox.ts';
import type { PinnedTool, ToolRunner } from './types.ts';

/** Whether a tool of that form runs as a program of its own, whatever the tier. */
export function isProgramForm(form: MetadataForm): boolean {
  return form === 'command' || form === 'python';
}

/**
 * Runs each call of a tool in another language in a process of its own, which is killed with its group when the call's signal fires. It
 * has an environment of its own and limited memory; Node's permissions do not reach it. `sandboxed`: within bubblewrap, as
 * `createSandboxRunner` does.
 */
export function createProgramRunner(
  options: SandboxRunnerOptions,
  { sandboxed }: { readonly sandboxed: boolean },
): ToolRunner {
  const languageOf: ReadonlyMap<MetadataForm, ToolLanguage> = new Map([
    ['command', commandLanguage],
    ['python', createPythonLanguage()],
  ]);
  const groups = new ProcessGroups();
  const findSandbox = createSandboxFinder(options.path);
  const closing = new AbortController();
  const running = new Set<Promise<unknown>>();

  async function prepare(language: ToolLanguage, tool: PinnedTool, input: Json): Promise<ProgramCall> {
    const sandbox = sandboxed ? await findSandbox(tool) : undefined;
    const sha256 = await options.verify(tool);
    const call = await language.prepare(tool, input, sha256);
    const limited = limitProcess(call.command, { memoryMb: programMemoryLimit(options.memoryMb) });
    const command = sandbox === undefined ? limited : sandboxCommand(sandbox, limited, visibleFolders(call, tool));
    return { ...call, command };
  }

  async function run(tool: PinnedTool, input: Json, context: ToolContext): Promise<unknown> {
    const language = languageOf.get(tool.metadata.form);
    if (language === undefined) throw new TypeError(`No program runs a tool of the form \`${tool.metadata.form}\`.`);
    const signal = AbortSignal.any([context.signal, closing.signal]);
    const call = await beginWith(prepare(language, tool, input), { signal, begin: context.begin });
    const end = await runProgram({
      command: call.command,
      environment: { ...toolEnvironment(options.environment?.(tool)), ...callEnvironment(context) },
      input: call.input,
      signal,
      maxOutputBytes: childLimits.maxJsonBytes,
      groups,
      clock: options.clock ?? backgroundClock,
      print: (text) => options.print?.(text, tool),
    });
    return readEnd(end, tool, language);
  }

  return {
    async run(tool, input, context) {
      if (context.signal.aborted) throw context.signal.reason;
      if (closing.signal.aborted) throw closed(tool, 'was called after its host closed it');
      const result = run(tool, input, context).catch((thrown: unknown) => {
        throw thrown === closing.signal.reason && closing.signal.aborted
          ? closed(tool, 'was ended by its host')
          : thrown;
      });
      running.add(result);
      try {
        return await result;
      } finally {
        running.delete(result);
      }
    },
    async close() {
      closing.abort();
      await Promise.allSettled([...running]);
    },
  };
}

function readEnd(end: ProgramEnd, tool: PinnedTool, language: ToolLanguage): unknown {
  switch (end.type) {
    case 'exited':
      return language.read(tool, end);
    case 'aborted':
      throw end.reason;
    case 'not-started':
      throw processFailure(tool, 'not_started', `could not be started: ${end.reason}`);
    case 'flooded':
      if (end.by === 'text') throw processFailure(tool, 'flood', 'printed more than can be taken');
      throw new HoldfastError(
        'tool.message.too_large',
        `A tool can send at most ${childLimits.maxJsonBytes} bytes of JSON at once.`,
      );
    default:
      return end satisfies never;
  }
}

function closed({ metadata: { name } }: PinnedTool, what: string): HoldfastError {
  return new HoldfastError('tool.process.closed', `\`${name}\` ${what}.`);
}

/** What a program knows of its call. */
function callEnvironment({ callId, idempotencyKey, deadline }: ToolContext): Record<string, string> {
  const remainingMs = deadline.remainingMs();
  return {
    HOLDFAST_CALL_ID: callId,
    HOLDFAST_IDEMPOTENCY_KEY: idempotencyKey,
    ...(Number.isFinite(remainingMs) ? { HOLDFAST_REMAINING_MS: String(Math.floor(remainingMs)) } : {}),
  };
}

function visibleFolders({ folders }: ProgramCall, { entry }: PinnedTool): readonly string[] {
  return [...folders, findProject(entry)];
}

/** What is to be run for one call. */
export interface ProgramCall {
  readonly command: Command;
  /** What it reads on standard input. */
  readonly input: string;
  /** Folders that it needs, where a sandbox shows only some. */
  readonly folders: readonly string[];
}

/** A language in which a tool is a program that is run once a call. */
export interface ToolLanguage {
  /** @param sha256 - what the tool file has to be, in hexadecimal. @throws HoldfastError where it cannot be run. */
  prepare(tool: PinnedTool, input: Json, sha256: string): Promise<ProgramCall>;
  /** What the tool returned. @throws what it threw. */
  read(tool: PinnedTool, end: Extract<ProgramEnd, { readonly type: 'exited' }>): unknown;
}
