import { allow, definePolicy, defineTool, type Policy, type Tool } from '@holdfast/core';
import type { BindablePrompt } from '../render/types.ts';
import type { InputOfAll, Section } from '../section/section.ts';
import { createPrompt } from './prompt.ts';

export function tool(name: string): Tool {
  return defineTool({ name, description: `The tool ${name}.`, execute: () => null });
}

export function policy(id: string, tools: readonly string[] = []): Policy {
  return definePolicy({ name: 'fixed', id, mentions: tools, check: () => allow });
}

export function promptOf<const Sections extends readonly Section[]>(
  ...sections: Sections
): BindablePrompt<InputOfAll<Sections>> {
  return createPrompt({ ns: 'tests', key: 'prompt', sections });
}
