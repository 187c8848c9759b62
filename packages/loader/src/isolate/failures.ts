import { dirname } from 'node:path';
import { HoldfastError, type Json, toolError, toolOk } from '@holdfast/core';
import { fromThrownMessage } from '../child/call-messages.ts';
import type { Answer } from '../child/child-messages.ts';
import type { PinnedTool } from '../language/types.ts';
import { hidePaths } from '../text/hide-paths.ts';
import type { ChildEnd } from './types.ts';

/** HoldfastError `tool.file.import_failed`; `why` is what the import threw. */
export function importFailed({ file, entry }: PinnedTool, why: string, cause?: unknown): HoldfastError {
  const message = `The tool file \`${file}\` cannot be imported: ${hidePaths(why, dirname(entry))}`;
  return new HoldfastError('tool.file.import_failed', message, { data: { file }, cause });
}

/** HoldfastError `tool.file.changed`. */
export function fileChanged(file: string, cause?: unknown): HoldfastError {
  const message = `The tool file \`${file}\` is not the one that was verified: load the tools again.`;
  return new HoldfastError('tool.file.changed', message, { data: { file }, cause });
}

/** HoldfastError `tool.function.not_function`. */
export function notFunction({ file, metadata }: PinnedTool): HoldfastError {
  const name = metadata.form === 'definition' ? 'execute' : metadata.function;
  const message = `\`${name}\` of the tool file \`${file}\` is no function any more: declare it once and leave it so.`;
  return new HoldfastError('tool.function.not_function', message, { data: { file } });
}

/** HoldfastError `tool.process.<word>`; `what` completes `The process of ...`. */
export function processFailure({ metadata: { name } }: PinnedTool, word: string, what: string): HoldfastError {
  return new HoldfastError(`tool.process.${word}`, `The process of \`${name}\` ${what}.`, { data: { tool: name } });
}

/** HoldfastError `tool.process.closed`, of a call after its host closed the tool. */
export function calledTooLate({ name }: PinnedTool['metadata']): HoldfastError {
  return new HoldfastError('tool.process.closed', `\`${name}\` was called after its host closed it.`);
}

/** HoldfastError `tool.process.exited`; `how` in words, such as `with code 3`. */
export function processExited(tool: PinnedTool, how: string): HoldfastError {
  return processFailure(tool, 'exited', `ended ${how} before the call had ended`);
}

/** What the end of a process is for a call in it. */
export function describeEnd(tool: PinnedTool, end: ChildEnd): HoldfastError {
  switch (end.type) {
    case 'not-started':
      return processFailure(tool, 'not_started', `could not be started: ${end.reason}`);
    case 'out-of-memory':
      return processFailure(tool, 'memory', 'used more memory than it may');
    case 'exited':
      return processExited(tool, end.how);
  }
}

/** What a tool's function returned or threw in another process, as if it had been called in this one. */
export function readAnswer(
  answer: Answer,
  tool: PinnedTool,
): { readonly value: unknown } | { readonly reason: unknown } {
  switch (answer.type) {
    case 'returned':
      return { value: answer.value };
    case 'result': {
      const { success, message, value, excluded, code } = answer;
      if (success) return { value: toolOk<Json>(value, message, { excludeValueFromContext: excluded }) };
      return { value: toolError(message, { value, ...(code === undefined ? {} : { code }) }) };
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
      const message = `\`${tool.metadata.name}\` waits for what cannot come any more, and will never answer.`;
      return { reason: new HoldfastError('tool.process.stuck', message) };
    }
  }
}

/** Stands for a value that is no JSON, which stays where it is: whoever copies this finds out, and why. */
export function unfit(problem: string): unknown {
  return {
    get value(): never {
      throw new Error(problem);
    },
  };
}
