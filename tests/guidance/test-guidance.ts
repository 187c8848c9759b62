import type {
  CompletionChecker,
  FeedbackProvider,
  FeedbackTrigger,
  Filesystem,
  FilesystemReader,
  OutputFormat,
  Prompt,
  RenderedPrompt,
  StagedResource,
  Tool,
} from '@holdfast/core';
import { guide } from '@holdfast/prompt';

/** A prompt that speaks to the model. */
export function guidedPrompt(tools: readonly Tool[], guidance: Partial<RenderedPrompt>, name = 'test/guided'): Prompt {
  return { name, render: () => ({ text: 'Work.', tools, policies: new Map(), allPolicies: [], guide, ...guidance }) };
}

export const everyCalls = (every: number): FeedbackTrigger => ({ type: 'calls', every });
export const everySeconds = (every: number): FeedbackTrigger => ({ type: 'seconds', every });
export const fileCreated = (path: string): FeedbackTrigger => ({ type: 'file-created', path });

/** Says its name and how many calls there have been, or what `provide` says. */
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

/** Of a message `N: ...` the number N. */
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

/** A filesystem of nothing but names, of folders with `/` at their end; only what guidance looks at is there. */
export function namedFiles(names: Set<string>): StagedResource<Filesystem, FilesystemReader> {
  const readOnly: Pick<FilesystemReader, 'stat'> = {
    stat: async (path) => {
      if (path.startsWith('..')) throw new Error('it leaves the root');
      if (names.has(path)) return { type: 'file', size: 0, version: '1' };
      return names.has(`${path}/`) ? { type: 'directory', size: 0, version: 'directory' } : undefined;
    },
  };
  // No call of these tests uses it.
  return { type: 'staged-resource', readOnly } as unknown as StagedResource<Filesystem, FilesystemReader>;
}
