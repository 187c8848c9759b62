import { HoldfastError } from '@holdfast/core';
import type { PinnedTool } from './pinned-tool.ts';
import type { ChildEnd } from './tool-child.ts';

/** HoldfastError `tool.process.<word>`; `what` completes `The process of ...`. */
export function processFailure({ metadata: { name } }: PinnedTool, word: string, what: string): HoldfastError {
  return new HoldfastError(`tool.process.${word}`, `The process of \`${name}\` ${what}.`, { data: { tool: name } });
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
