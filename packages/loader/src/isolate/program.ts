import { hash } from 'node:crypto';
import { HoldfastError, type Json, type ToolContext } from '@holdfast/core';
import { childLimits } from '../child/call-messages.ts';
import { readBounded } from '../files/read-bounded.ts';
import type { Language, PinnedTool, ProgramAnswer, ProgramCall } from '../language/types.ts';
import { beginWith } from './begin-with.ts';
import { createSandboxFinder, findProject, sandboxCommand } from './bubblewrap.ts';
import { toolEnvironment } from './environment.ts';
import {
  calledTooLate,
  fileChanged,
  importFailed,
  notFunction,
  processExited,
  processLost,
  processNotStarted,
  unfit,
} from './failures.ts';
import { backgroundClock } from './pool.ts';
import { limitProcess, programMemoryLimit } from './process-command.ts';
import { ProcessGroups } from './process-groups.ts';
import { type ProgramEnd, runProgram } from './run-program.ts';
import type { SandboxRunnerOptions } from './subprocess.ts';
import type { ToolRunner } from './types.ts';

/**
 * Runs each call of a tool in another language in its own process, whose group is killed when the call's signal fires. It has its own
 * environment and limited memory; Node's permissions do not apply. `sandboxed`: within bubblewrap, like `createSandboxRunner`.
 */
export function createProgramRunner(
  options: SandboxRunnerOptions,
  { language, sandboxed }: { readonly language: Language; readonly sandboxed: boolean },
): ToolRunner {
  const groups = new ProcessGroups();
  const findSandbox = createSandboxFinder(options.path);
  const closing = new AbortController();
  const running = new Set<Promise<unknown>>();

  async function prepare(tool: PinnedTool, input: Json): Promise<ProgramCall> {
    const sandbox = sandboxed ? await findSandbox(tool) : undefined;
    const sha256 = await options.verify(tool);
    checkFiles(tool);
    const call = await language.prepare(tool, input, sha256);
    const limited = limitProcess(call.command, { memoryMb: programMemoryLimit(options.memoryMb) });
    const visible = [...call.folders, findProject(tool.entry)];
    return { ...call, command: sandbox === undefined ? limited : sandboxCommand(sandbox, limited, visible) };
  }

  async function run(tool: PinnedTool, input: Json, context: ToolContext): Promise<unknown> {
    const signal = AbortSignal.any([context.signal, closing.signal]);
    const call = await beginWith(prepare(tool, input), { signal, begin: context.begin });
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
      if (closing.signal.aborted) throw calledTooLate(tool.metadata);
      const result = run(tool, input, context).catch((thrown: unknown) => {
        const isClosed = closing.signal.aborted && thrown === closing.signal.reason;
        throw isClosed ? processLost(tool, 'closed', 'was ended by its host') : thrown;
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

function checkFiles({ file, commandFiles = new Map() }: PinnedTool): void {
  for (const [path, digest] of commandFiles) {
    // A FIFO may have replaced it, on which an ordinary read would block.
    const reading = readBounded(path, maxDataBytes);
    if (reading.type !== 'read' || hash('sha256', reading.bytes) !== digest) throw fileChanged(file);
  }
}

// Larger than any file that a command may name.
const maxDataBytes = 64 * 1024 * 1024;

function readEnd(end: ProgramEnd, tool: PinnedTool, language: Language): unknown {
  switch (end.type) {
    case 'exited':
      return readAnswer(tool, language.readEnd(tool, end));
    case 'aborted':
      throw end.reason;
    case 'not-started':
      throw processNotStarted(tool, `could not be started: ${end.reason}`);
    case 'flooded': {
      if (end.by === 'text') throw processLost(tool, 'flood', 'printed too much text');
      const message = `A tool can send at most ${childLimits.maxJsonBytes} bytes of JSON at once.`;
      throw new HoldfastError('tool.request.invalid', message, { data: { reason: 'too_large' } });
    }
    default:
      return end satisfies never;
  }
}

function readAnswer(tool: PinnedTool, answer: ProgramAnswer): unknown {
  switch (answer.type) {
    case 'returned':
      return answer.value;
    case 'unfit':
      return unfit(answer.problem);
    case 'threw':
      throw answer.error;
    case 'unimportable':
      throw importFailed(tool, answer.message, answer.error);
    case 'no-function':
      throw notFunction(tool);
    case 'changed':
      throw fileChanged(tool.file);
    case 'ended':
      throw processExited(tool, answer.how);
    case 'unreadable':
      throw processLost(tool, 'protocol', 'sent an unreadable message');
    default:
      return answer satisfies never;
  }
}

/** Environment variables with data of the call. */
function callEnvironment({ callId, idempotencyKey, deadline }: ToolContext): Record<string, string> {
  const remainingMs = deadline.remainingMs();
  return {
    HOLDFAST_CALL_ID: callId,
    HOLDFAST_IDEMPOTENCY_KEY: idempotencyKey,
    ...(Number.isFinite(remainingMs) ? { HOLDFAST_REMAINING_MS: String(Math.floor(remainingMs)) } : {}),
  };
}
