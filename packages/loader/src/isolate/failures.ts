import { dirname } from 'node:path';
import { HoldfastError, type Json, toolError, toolOk } from '@holdfast/core';
import { fromThrownMessage } from '../child/call-messages.ts';
import type { Answer } from '../child/child-messages.ts';
import type { PinnedTool } from '../language/types.ts';
import { hidePaths } from '../text/hide-paths.ts';
import type { ChildEnd } from './types.ts';

/** HoldfastError `tool.file.import_failed`; `why` is the error of the import. */
export function importFailed({ file, entry }: PinnedTool, why: string, cause?: unknown): HoldfastError {
  const message = `Cannot import the tool file \`${file}\`: ${hidePaths(why, dirname(entry))}`;
  return new HoldfastError('tool.file.import_failed', message, { data: { file }, cause });
}

/** HoldfastError `tool.file.changed`. */
export function fileChanged(file: string, cause?: unknown): HoldfastError {
  const message = `The tool file \`${file}\` differs from the verified one: load the tools again.`;
  return new HoldfastError('tool.file.changed', message, { data: { file }, cause });
}

/** HoldfastError `tool.function.not_function`. */
export function notFunction({ file, metadata }: PinnedTool): HoldfastError {
  const name = metadata.form === 'definition' ? 'execute' : metadata.function;
  const message = `\`${name}\` of the tool file \`${file}\` is no longer a function: declare it once and do not reassign it.`;
  return new HoldfastError('tool.function.not_function', message, { data: { file } });
}

/** Reasons of `tool.process.lost`. */
type LostReason = 'exited' | 'memory' | 'stuck' | 'unresponsive' | 'protocol' | 'flood' | 'closed' | 'unreadable';

/** HoldfastError `tool.process.lost`; `what` completes "The process of …". */
export function processLost({ metadata: { name } }: PinnedTool, reason: LostReason, what: string): HoldfastError {
  return new HoldfastError('tool.process.lost', `The process of \`${name}\` ${what}.`, {
    data: { reason, tool: name },
  });
}

/** HoldfastError `tool.process.not_started`. */
export function processNotStarted({ metadata: { name } }: PinnedTool, why: string): HoldfastError {
  return new HoldfastError('tool.process.not_started', `The process of \`${name}\` ${why}.`, { data: { tool: name } });
}

/** HoldfastError `tool.process.lost`, for a call after the host closed the tool. */
export function calledTooLate({ name }: PinnedTool['metadata']): HoldfastError {
  return new HoldfastError('tool.process.lost', `\`${name}\` was called after its host closed it.`, {
    data: { reason: 'closed' },
  });
}

/** HoldfastError `tool.process.lost`; `how` in words, such as `with code 3`. */
export function processExited(tool: PinnedTool, how: string): HoldfastError {
  return processLost(tool, 'exited', `ended ${how} before the call was complete`);
}

/** Converts the end of a process to the error of its call. */
export function describeEnd(tool: PinnedTool, end: ChildEnd): HoldfastError {
  switch (end.type) {
    case 'not-started':
      return processNotStarted(tool, `could not be started: ${end.reason}`);
    case 'out-of-memory':
      return processLost(tool, 'memory', 'exceeded its memory limit');
    case 'exited':
      return processExited(tool, end.how);
  }
}

/** Returns or throws the result of a tool's function in another process, as if called in this one. */
export function readAnswer(
  answer: Answer,
  tool: PinnedTool,
): { readonly value: unknown } | { readonly reason: unknown } {
  switch (answer.type) {
    case 'returned':
      return { value: answer.value };
    case 'result': {
      const { success, message, value, excluded, code, reason } = answer;
      if (success) return { value: toolOk<Json>(value, message, { excludeValueFromContext: excluded }) };
      return { value: toolError(message, { value, code, reason }) };
    }
    case 'unfit':
      return { value: unfit(answer.problem) };
    case 'threw':
      return { reason: fromThrownMessage(answer.error) };
    case 'unimportable':
      if (answer.reason === 'function') return { reason: notFunction(tool) };
      if (answer.reason === 'changed') return { reason: fileChanged(tool.file) };
      return { reason: importFailed(tool, answer.error.message, fromThrownMessage(answer.error)) };
    case 'stuck': {
      const message = `\`${tool.metadata.name}\` waits for something that can never happen, and will never answer.`;
      return { reason: new HoldfastError('tool.process.lost', message, { data: { reason: 'stuck' } }) };
    }
  }
}

/** Stands for a result that is not JSON and stays in its process; copying it reveals the problem. */
export function unfit(problem: string): unknown {
  return {
    get value(): never {
      throw new Error(problem);
    },
  };
}
