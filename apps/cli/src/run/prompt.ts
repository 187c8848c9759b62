import type { Policy, Prompt, Section } from '@holdfast/core';
import { readBeforeWrite, sequentialDependency } from '@holdfast/policy';
import { createPrompt, markdownSection } from '@holdfast/prompt';
import type { Registry } from '@holdfast/registry';
import { filesSection } from '../settings/builtin-plugins.ts';

const guidance = `Do what the user asks, using the tools below. Then answer with what you found and what you changed.

- Look before you act: list or search before you read, read before you change.
- Every call is checked. If one is denied or fails, you are told why: try another way, or say in the answer that
  it could not be done. Repeating the same call gives the same result.
- A person may be asked before a dangerous call runs. A denial is final.
- State only what the results show.`;

/** The prompt of `holdfast run`: guidance, the sections of plugins, and a section for each plugin with tools outside its sections. */
export function createRunPrompt({ sections, looseTools }: Pick<Registry, 'sections' | 'looseTools'>): Prompt {
  const keys = new Set(sections.map(({ key }) => key));
  // Sections of different plugins may have the same name.
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
        // A description is not a template.
        const template = description.replaceAll('$', '$$$$');
        return markdownSection({ title: plugin, key: keep(plugin), template, tools });
      }),
    ],
  });
}

/** Plugin policies do not apply to other plugins' tools, but reading before changing must hold for all of them. */
export function withGuard(section: Section): Section {
  return section.key === filesSection ? { ...section, policies: [...section.policies, readBeforeWrite()] } : section;
}

/** The policy that enforces the user's tool orders, each a list of names from first to last. */
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
