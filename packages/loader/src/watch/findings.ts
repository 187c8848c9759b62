import { describeThrown, isHoldfastError } from '@holdfast/core';
import { codeOf } from '../files/read-bounded.ts';
import { type Diagnostic, toDiagnostic } from '../text/diagnostic.ts';

// Of the folder itself.
const place = { file: '.' };

/** Changes may go unseen. */
export function describeBlindness(thrown: unknown): Diagnostic {
  const code = codeOf(thrown);
  const why = code === 'unknown' ? describeThrown(thrown) : code;
  const isFull = code === 'ENOSPC' || code === 'EMFILE';
  const message = `Not every file can be watched (${why}): changes may go unseen.`;
  const hint = isFull
    ? 'Raise the limit of the system (on Linux `fs.inotify`), or reload the tools by hand.'
    : 'Reload the tools by hand.';
  return toDiagnostic({ severity: 'warning', code: 'tool.watch.failed', message, hint }, place);
}

/** The folder, or its lock, could not be read again. */
export function describeFailure(thrown: unknown): Diagnostic {
  const code = isHoldfastError(thrown) ? thrown.code : 'tools.folder.unreadable';
  const hint = 'The tools stay as they were until this is set right.';
  return toDiagnostic({ code, message: describeThrown(thrown), hint }, place);
}

/** @param count - at least 1. */
export function describeRetained(count: number): Diagnostic {
  const versions = count === 1 ? '1 former version' : `${count} former versions`;
  const message = `This process keeps ${versions} of tools in its memory: Node.js forgets no module.`;
  const hint = 'Let tools that still change run in a `worker` or a `subprocess`.';
  return toDiagnostic({ severity: 'warning', code: 'tool.watch.retained', message, hint }, place);
}
