import { defineTool, type ExecutableTool, toolOk } from '@holdfast/core';
import { callBudget, sequentialDependency } from '@holdfast/policy';
import { type BindablePrompt, createPrompt, markdownSection, type Section } from '@holdfast/prompt';
import * as v from 'valibot';

/** The parameters to bind. */
export interface Topic {
  readonly topic: string;
  readonly limit?: number | undefined;
}

export type LargePrompt = BindablePrompt<Topic>;

/** Sections under one at the top, itself included. */
export const groupSize = 10;

const childrenOfRoot = 3;

/** The only section that is summarized until it is opened. */
const closedKey = 'closed';

/**
 * Sections in groups of ten over three levels, with one tool each: all of them have parameters or policies around them, every third
 * has an example of its tool. Every call returns new objects, so nothing is compiled already.
 */
export function createSections(count: number): readonly Section<Topic>[] {
  const groups = Math.ceil(count / groupSize);
  return Array.from({ length: groups }, (_, group) => {
    const isLast = group === groups - 1;
    const first = group * groupSize;
    const children = Array.from({ length: childrenOfRoot }, (__, child) => {
      const at = first + 1 + child * 3;
      return markdownSection({
        title: `Step ${child + 1}`,
        template: `Do step ${child + 1} before you go on, and read what it gives.`,
        tools: [createTool(at)],
        children: [createLeaf(at + 1, 'a'), createLeaf(at + 2, isLast && child === 2 ? closedKey : 'b')],
      });
    });
    return markdownSection({
      title: `Part ${group + 1}`,
      template: 'What you may do about $topic, with at most $limit calls of each tool.',
      params: v.object({ topic: v.string(), limit: v.optional(v.number(), 10) }),
      enabled: ({ topic }) => topic !== '',
      tools: [createTool(first)],
      policies: [callBudget({ maxCalls: 1_000 }), sequentialDependency({ [nameOf(first + 1)]: [nameOf(first)] })],
      children,
    });
  });
}

export function createLargePrompt(sections: readonly Section<Topic>[]): LargePrompt {
  return createPrompt({ ns: 'bench', key: 'large', sections });
}

/** The path of the section that is shown as a summary. */
export function closedPath(count: number): string {
  return `part-${Math.ceil(count / groupSize)}.step-3.${closedKey}`;
}

function createLeaf(at: number, key: string): Section {
  return markdownSection({
    title: `Detail ${at}`,
    key,
    template: `Call \`${nameOf(at)}\` with the number that you were given, and say what came of it.`,
    summary: 'A detail.',
    visibility: key === closedKey ? 'summary' : 'full',
    tools: [createTool(at)],
  });
}

function createTool(at: number): ExecutableTool {
  return defineTool({
    name: nameOf(at),
    description: `Do the work of number ${at}.`,
    inputSchema: v.object({
      id: v.pipe(v.number(), v.integer(), v.description('Which one')),
      note: v.optional(v.pipe(v.string(), v.maxLength(100)), ''),
    }),
    effects: 'none',
    ...(at % 3 === 0 ? { examples: [{ description: 'The first one', input: { id: 1 }, output: { id: 1 } }] } : {}),
    execute: ({ id }) => toolOk({ id }),
  });
}

function nameOf(at: number): string {
  return `tool_${at}`;
}
