import { allow, definePolicy, defineTool, deny, type Policy, type PreparedCall } from '@holdfast/core';
import { markdownSection } from '@holdfast/prompt';
import { expect, test } from 'vitest';
import { filesSection } from '../settings/builtin-plugins.ts';
import { sectionPolicies } from './setup.ts';

const tool = (name: string) => defineTool({ name, description: 'Acts.', execute: () => 1 });
const no = (name: string): Policy => definePolicy({ name, check: () => deny(`No, says ${name}.`) });

const sections = [
  markdownSection({
    title: 'Git',
    key: 'git',
    template: 'Git.',
    tools: [tool('push')],
    policies: [no('outer')],
    children: [
      markdownSection({
        title: 'Deep',
        key: 'deep',
        template: 'Deep.',
        tools: [tool('erase')],
        policies: [no('inner')],
      }),
    ],
  }),
  markdownSection({ title: 'Files', key: filesSection, template: 'Files.', tools: [tool('write_file')] }),
];

test('policies of sections apply to their tools and those of their subsections, and to no others', async () => {
  const policies = sectionPolicies({ sections });
  expect(policies.map(({ id }) => id)).toEqual(['git/outer', 'git.deep/inner', 'files/read-before-write']);
  const say = (name: string): readonly unknown[] =>
    policies.slice(0, 2).map((policy) => {
      const call: PreparedCall = { id: 'c', tool: tool(name), input: {} };
      const context = { state: undefined, session: {}, filesystem: undefined, deadline: {} };
      // They only look at the call.
      return policy.check(call, context as unknown as Parameters<Policy['check']>[1]);
    });
  const [outer, inner] = [deny('No, says outer.'), deny('No, says inner.')];
  expect(say('push')).toEqual([outer, allow]);
  expect(say('erase')).toEqual([outer, inner]);
  expect(say('write_file')).toEqual([allow, allow]);
});
