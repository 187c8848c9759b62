import type { Policy, Prompt } from '@holdfast/core';
import { readBeforeWrite, sequentialDependency } from '@holdfast/policy';
import { createPrompt, markdownSection } from '@holdfast/prompt';
import type { Toolset } from './toolset.ts';

const guidance = `Do what the user asks with the tools below. Then answer: what you found, and what you changed.

- Look before you act: list or search before you read, read before you change.
- Every call is checked. When one is denied or fails, its reason comes back to you: go another way, or say in the answer that
  it could not be done. The same call again gets the same reason.
- A person may be asked before a dangerous call runs. A "no" is final.
- Say only what the results show.`;

const files = `The files of the workspace, by paths relative to it. A file that exists must be read before it is changed or
deleted, and read again when it has changed since. What a call writes counts only when the call succeeds.`;

const folder = 'What this project brings along, each from a file in its tools folder.';

/** The prompt of `holdfast run`: guidance, the files of the workspace, the tools of the folder. */
export function createRunPrompt({ folderTools, fileTools }: Pick<Toolset, 'folderTools' | 'fileTools'>): Prompt {
  return createPrompt({
    ns: 'holdfast',
    key: 'run',
    sections: [
      markdownSection({ title: 'Guidance', template: guidance }),
      markdownSection({ title: 'Files', template: files, tools: fileTools, policies: [readBeforeWrite()] }),
      ...(folderTools.length === 0 ? [] : [markdownSection({ title: 'Tools', template: folder, tools: folderTools })]),
    ],
  });
}

/** The policy that keeps tools in the orders that the user gave, each a list of names from first to last. */
export function createOrderPolicies(orders: readonly (readonly string[])[]): readonly Policy[] {
  const needed = new Map<string, string[]>();
  for (const order of orders) {
    for (const [index, name] of order.entries()) {
      const before = order[index - 1];
      if (before !== undefined) needed.set(name, [...(needed.get(name) ?? []), before]);
    }
  }
  return needed.size === 0 ? [] : [sequentialDependency(Object.fromEntries(needed))];
}
