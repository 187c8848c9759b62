import { HoldfastError, type Json, toolError, toolOk } from '@holdfast/core';
import type { Answer } from './call-messages.ts';
import { fileChanged, importFailed, notFunction } from './import-errors.ts';
import type { PinnedTool } from './pinned-tool.ts';
import { fromThrownMessage } from './thrown-message.ts';

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
