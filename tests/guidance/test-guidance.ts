import type {
  CompletionChecker,
  FeedbackProvider,
  Filesystem,
  FilesystemReader,
  Prompt,
  StagedResource,
  Tool,
} from '@holdfast/core';
import type { FeedbackTrigger, OutputFormat, RenderedPrompt } from '@holdfast/core/types';
import { guide } from '@holdfast/prompt/internal';

/** A prompt with guidance. */
export function guidedPrompt(tools: readonly Tool[], guidance: Partial<RenderedPrompt>, name = 'test/guided'): Prompt {
  return { name, render: () => ({ text: 'Work.', tools, policies: new Map(), allPolicies: [], guide, ...guidance }) };
}

export const everyCalls = (every: number): FeedbackTrigger => ({ type: 'calls', every });
export const everySeconds = (every: number): FeedbackTrigger => ({ type: 'seconds', every });
export const fileCreated = (path: string): FeedbackTrigger => ({ type: 'file-created', path });

/** Returns its name and the number of calls, or the result of `provide`. */
export function provider(
  name: string,
  triggers: readonly FeedbackTrigger[],
  provide: FeedbackProvider['provide'] = ({ calls }) => `${name} at ${calls}`,
): FeedbackProvider {
  return { name, triggers, provide };
}

export function checker(check: CompletionChecker['check'], name = 'done'): CompletionChecker {
  return { name, check };
}

/** The number N of a message `N: ...`. */
export function numberFormat(maxCorrections = 1): OutputFormat<number> {
  return {
    jsonSchema: { type: 'object', properties: { n: { type: 'number' } } },
    maxCorrections,
    parse(text) {
      const match = /^(\d+):/.exec(text);
      return match === null ? { ok: false, message: 'Begin with a number.' } : { ok: true, value: Number(match[1]) };
    },
  };
}

/** A filesystem of names only, folders ending in `/`; has only the parts that guidance uses. */
export function namedFiles(names: Set<string>): StagedResource<Filesystem, FilesystemReader> {
  const readOnly: Pick<FilesystemReader, 'stat'> = {
    stat: async (path) => {
      if (path.startsWith('..')) throw new Error('it leaves the root');
      if (names.has(path)) return { type: 'file', size: 0, version: '1' };
      return names.has(`${path}/`) ? { type: 'directory', size: 0, version: 'directory' } : undefined;
    },
  };
  // Unused in these tests.
  return { type: 'staged-resource', readOnly } as unknown as StagedResource<Filesystem, FilesystemReader>;
}
