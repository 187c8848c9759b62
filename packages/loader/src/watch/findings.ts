import { describeThrown, toProblem } from '@holdfast/core/internal';
import { codeOf } from '../files/read-bounded.ts';
import { type Diagnostic, toDiagnostic } from '../text/diagnostic.ts';

// The folder itself.
const place = { file: '.' };

/** Reports that changes may be missed. */
export function describeBlindness(thrown: unknown): Diagnostic {
  const code = codeOf(thrown);
  const why = code === 'unknown' ? describeThrown(thrown) : code;
  const isFull = code === 'ENOSPC' || code === 'EMFILE';
  const message = `Not every file can be watched (${why}): changes may be missed.`;
  const hint = isFull
    ? 'Raise the system limit (on Linux `fs.inotify`), or reload the tools manually.'
    : 'Reload the tools manually.';
  return toDiagnostic({ severity: 'warning', code: 'tool.watch.failed', message, hint }, place);
}

/** Reports that the folder or its lock could not be read again. */
export function describeFailure(thrown: unknown): Diagnostic {
  const hint = 'The tools stay unchanged until this is fixed.';
  return toDiagnostic({ ...toProblem(thrown, { code: 'tools.folder.unreadable', reason: 'refused' }), hint }, place);
}

/** @param count - at least 1. */
export function describeRetained(count: number): Diagnostic {
  const versions = count === 1 ? '1 old version' : `${count} old versions`;
  const message = `This process keeps ${versions} of tools in memory: Node.js does not unload modules.`;
  const hint = 'Run tools that still change in a `worker` or a `subprocess`.';
  return toDiagnostic({ severity: 'warning', code: 'tool.watch.failed', reason: 'retained', message, hint }, place);
}
