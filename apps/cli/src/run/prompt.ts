import type { Policy, Prompt, Section } from '@holdfast/core';
import { readBeforeWrite, sequentialDependency } from '@holdfast/policy';
import { createPrompt, markdownSection } from '@holdfast/prompt';
import type { Registry } from '@holdfast/registry';
import { filesSection } from '../settings/builtin-plugins.ts';

const guidance = `Do what the user asks with the tools below. Then answer: what you found, and what you changed.

- Look before you act: list or search before you read, read before you change.
- Every call is checked. When one is denied or fails, its reason comes back to you: go another way, or say in the answer that
  it could not be done. The same call again gets the same reason.
- A person may be asked before a dangerous call runs. A "no" is final.
- Say only what the results show.`;

/** The prompt of `holdfast run`: guidance, the sections of plugins, and one for each plugin that has tools beside its sections. */
export function createRunPrompt({ sections, looseTools }: Pick<Registry, 'sections' | 'looseTools'>): Prompt {
  const keys = new Set(sections.map(({ key }) => key));
  // A plugin may have a section of the name of another plugin.
  const keep = (wanted: string): string => {
    let key = wanted;
    for (let number = 2; keys.has(key); number += 1) key = `${wanted}-${number}`;
    keys.add(key);
    return key;
  };
  return createPrompt({
    ns: 'holdfast',
    key: 'run',
    sections: [
      markdownSection({ title: 'Guidance', key: keep('guidance'), template: guidance }),
      ...sections.map(withGuard),
      ...looseTools.map(({ plugin, description, tools }) => {
        // A description is no template.
        const template = description.replaceAll('$', '$$$$');
        return markdownSection({ title: plugin, key: keep(plugin), template, tools });
      }),
    ],
  });
}

/** A plugin's own policies fail no calls of other plugins' tools; that a file is read before it is changed has to hold for all. */
export function withGuard(section: Section): Section {
  return section.key === filesSection ? { ...section, policies: [...section.policies, readBeforeWrite()] } : section;
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
